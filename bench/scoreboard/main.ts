/**
 * `npm run scoreboard`: the promises of svc, the test of each promise, and the proof that the test
 * detects a violation: a defect is planted in a copy of the build, and the test must turn red.
 */
import { availableParallelism } from 'node:os';
import { readProgramOptions, refuseOptions } from '../../fixtures/program-options.ts';
import { createProgress } from '../progress.ts';
import { writeDocument } from './document.ts';
import { isSound, judge } from './judge.ts';
import type { Judged } from './judge.ts';
import { currentCommit, storeRow, readStoredRows } from './stored-rows.ts';
import type { Row } from './row.ts';
import { ROWS } from './rows.ts';
import { copyBuild } from './sabotage.ts';

const USAGE = `npm run scoreboard                     every row, some minutes
npm run scoreboard -- tunnel audit     rows whose id has one of these words
npm run scoreboard -- --quick          rows that take seconds, as .ci/run does
npm run scoreboard -- --json           one object per row, for scripts
npm run scoreboard -- --keep FILE      adds each row to FILE; a row recorded there for this commit is not run again
npm run scoreboard -- --keep FILE --document   runs nothing: writes what FILE holds to SECURITY.md

Exit code 0 if every row is green, and red when sabotaged; 1 otherwise; 2 for a wrong command line.
`;

function lineOf({ id, threat, required }: Row, { asItIs, sabotaged, because }: Judged): string {
  const state = `${asItIs}, sabotaged ${sabotaged}`;
  const more = because === '' ? '' : `\n      ${because}`;
  return `  ${id}: ${state}\n      ${threat}: ${required}${more}\n`;
}

function readOptions(args: string[]) {
  const { values, positionals: words } = readProgramOptions(USAGE, {
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      document: { type: 'boolean', default: false },
      keep: { type: 'string' },
    },
  });
  return { ...values, words };
}

async function main(args: string[]): Promise<number> {
  const { json, quick, document, keep: file, words } = readOptions(args);
  const rows = ROWS.filter(
    ({ id, isSlow }) =>
      (words.length === 0 || words.some((word) => id.includes(word))) &&
      !(quick && isSlow === true),
  );
  if (rows.length === 0) {
    const ids = ROWS.map(({ id }) => id).join(', ');
    refuseOptions(USAGE, `no row has the id ${words.join(' or ')}; the ids are ${ids}`);
  }
  const kept = file === undefined ? new Map() : readStoredRows(file);
  if (document) {
    writeDocument(ROWS, kept);
    return 0;
  }
  const commit = currentCommit();
  const progress = createProgress(process.stderr);
  const judged: Judged[] = [];
  const waiting = [...rows];
  /** Judges rows until none is left, in a copy of the build of its own. */
  const work = async (_: unknown, lane: number): Promise<void> => {
    const copy = copyBuild(lane);
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      progress.report(`${judged.length + 1} of ${rows.length}: ${row.id}`);
      const before = kept.get(row.id);
      const isKnown = before?.commit === commit && isSound(before);
      const found = isKnown ? before : await judge(row, copy);
      if (file !== undefined && !isKnown)
        storeRow(file, { ...found, commit, at: new Date().toISOString() });
      judged.push(found);
      progress.clear();
      process.stdout.write(json ? `${JSON.stringify({ ...row, ...found })}\n` : lineOf(row, found));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const soundRows = judged.filter(isSound).length;
  const text = `${soundRows} of ${judged.length} rows are green, and red when sabotaged\n`;
  (json ? process.stderr : process.stdout).write(text);
  return soundRows === judged.length ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (thrown) {
  process.stderr.write(`error: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 2;
}
