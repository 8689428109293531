/**
 * `npm run scoreboard`: the promises of svc, the test of each promise, and the proof that the test
 * detects a violation: a defect is planted in a copy of the build, and the test must turn red.
 *
 *   npm run scoreboard                     # every row, some minutes
 *   npm run scoreboard -- tunnel audit     # rows whose id has one of these words
 *   npm run scoreboard -- --quick          # those that take seconds, as .ci/run does
 *   npm run scoreboard -- --json           # one object per row, for scripts
 *
 * Exit code 0 when every row is green and red when sabotaged, 1 otherwise, 2 when no row has the id.
 */
import { createProgress } from '../progress.ts';
import { judge } from './judge.ts';
import type { Judged } from './judge.ts';
import type { Row } from './row.ts';
import { ROWS } from './rows.ts';
import { copyBuild } from './sabotage.ts';

const isSound = ({ asItIs, sabotaged }: Judged): boolean =>
  asItIs === 'green' && sabotaged === 'red';

function lineOf({ id, threat, required }: Row, { asItIs, sabotaged, because }: Judged): string {
  const state = `${asItIs}, sabotaged ${sabotaged}`;
  const more = because === '' ? '' : `\n      ${because}`;
  return `  ${id}: ${state}\n      ${threat}: ${required}${more}\n`;
}

async function main(args: readonly string[]): Promise<number> {
  const isJson = args.includes('--json');
  const isQuick = args.includes('--quick');
  const words = args.filter((arg) => !arg.startsWith('--'));
  const rows = ROWS.filter(
    ({ id, isSlow }) =>
      (words.length === 0 || words.some((word) => id.includes(word))) &&
      !(isQuick && isSlow === true),
  );
  if (rows.length === 0) {
    const ids = ROWS.map(({ id }) => id).join(', ');
    process.stderr.write(`error: no row is called ${words.join(' or ')}; there are ${ids}\n`);
    return 2;
  }
  const copy = copyBuild();
  const progress = createProgress(process.stderr);
  const judged: Judged[] = [];
  for (const row of rows) {
    progress.report(`${judged.length + 1} of ${rows.length}: ${row.id}`);
    const found = await judge(row, copy);
    judged.push(found);
    progress.clear();
    const json = { ...row, ...found };
    process.stdout.write(isJson ? `${JSON.stringify(json)}\n` : lineOf(row, found));
  }
  const sound = judged.filter(isSound).length;
  const text = `${sound} of ${judged.length} rows are green, and red when sabotaged\n`;
  (isJson ? process.stderr : process.stdout).write(text);
  return sound === judged.length ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
