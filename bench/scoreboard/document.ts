/** The scoreboard of a release, as shown in SECURITY.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../fixtures/paths.ts';
import { isSound } from './judge.ts';
import type { StoredRow } from './stored-rows.ts';
import type { Row } from './row.ts';

const FILE = join(projectRoot, 'SECURITY.md');
const START = '<!-- scoreboard: npm run scoreboard -- --keep FILE --document -->\n';
const END = '<!-- end of scoreboard -->';

/** Replaces the table by one of all rows. Rows that were not run are shown as such. */
export function writeDocument(rows: readonly Row[], kept: ReadonlyMap<string, StoredRow>): void {
  const text = readFileSync(FILE, 'utf8');
  const [head, rest] = text.split(START);
  const tail = rest?.split(END)[1];
  if (head === undefined || tail === undefined)
    throw new RangeError(`SECURITY.md has no place for the scoreboard: ${START.trim()} … ${END}`);
  writeFileSync(FILE, `${head}${START}${scoreboardText(rows, kept)}${END}${tail}`);
}

/** Returns a sentence about what was run where, and a table. */
export function scoreboardText(rows: readonly Row[], kept: ReadonlyMap<string, StoredRow>): string {
  const ran = rows.flatMap(({ id }) => kept.get(id) ?? []);
  const soundRows = ran.filter(isSound).length;
  const commits = [...new Set(ran.map(({ commit }) => commit))].join(', ');
  const days = [...new Set(ran.map(({ at }) => at.slice(0, 10)))].toSorted().join(' and ');
  const machine = `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores`;
  const lines = rows.map(({ id, threat, required, file }) => {
    const cells = [threat, required, `\`${file}\``, stateOf(kept.get(id))];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    `${soundRows} of ${rows.length} rows hold: run on ${days} at commit ${commits}, ${machine}.`,
    '',
    '| What threatens | What is required | Test | State |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

function stateOf(row: StoredRow | undefined): string {
  if (row === undefined) return 'not run';
  return isSound(row) ? 'holds' : `${row.asItIs}, sabotaged ${row.sabotaged}`;
}
