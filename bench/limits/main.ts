/**
 * `npm run bench:limits`: checks every time and memory limit of svc on a quiet machine, and prints
 * the machine it was measured on. Tests compare growth, count work and wait for events; they never
 * depend on a clock, so limits are checked here.
 */
import { readFileSync } from 'node:fs';
import { readProgramOptions, refuseOptions } from '../../fixtures/program-options.ts';
import { closeClients } from '../../fixtures/server/exchange.ts';
import { verdict } from '../bars.ts';
import { machine } from '../machine.ts';
import { createProgress } from '../progress.ts';
import { verdictText } from '../report.ts';
import { COMMAND_LIMITS } from './commands.ts';
import { CONVERSATION_LIMITS } from './conversations.ts';
import { DASHBOARD_LIMITS } from './dashboard.ts';
import { FORWARD_LIMITS } from './forward.ts';
import { LARGE_REQUEST_LIMITS } from './large-requests.ts';
import { HOSTILE_REQUEST_LIMITS } from './hostile-requests.ts';
import { REQUEST_LIMITS } from './requests.ts';
import { STATUSLINE_LIMITS } from './statusline.ts';
import { WORK_LIMITS } from './work.ts';

const USAGE = `npm run bench:limits                     everything, about four minutes
npm run bench:limits -- commands memory  groups whose name has one of these words

Exit code 0 if every bar is met, 1 if one is missed, 2 for a wrong command line.
`;

const GROUPS = [
  ...COMMAND_LIMITS,
  ...STATUSLINE_LIMITS,
  ...WORK_LIMITS,
  ...CONVERSATION_LIMITS,
  ...REQUEST_LIMITS,
  ...FORWARD_LIMITS,
  ...LARGE_REQUEST_LIMITS,
  ...HOSTILE_REQUEST_LIMITS,
  ...DASHBOARD_LIMITS,
];

async function main(): Promise<number> {
  const { positionals: words } = readProgramOptions(USAGE, { allowPositionals: true });
  const groups = GROUPS.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (groups.length === 0) {
    const names = GROUPS.map(({ name }) => `\n  ${name}`).join('');
    refuseOptions(USAGE, `no group is called ${words.join(' or ')}; the groups are${names}`);
  }
  const { version } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  process.stdout.write(`svc ${version} on ${machine()}\n`);
  const progress = createProgress(process.stderr);
  let missed = 0;
  for (const { name, measure } of groups) {
    progress.report(name);
    const measured = await measure();
    progress.clear();
    process.stdout.write(`\n${name}\n`);
    for (const { what, unit, max, value } of measured) {
      const judged = verdict({ what, unit, direction: 'at most', bar: max }, value);
      if (!judged.met) missed += 1;
      process.stdout.write(`${verdictText(judged)}\n`);
    }
    if (measured.length === 0) process.stdout.write('  not measured here\n');
  }
  closeClients();
  process.stdout.write(`\n${missed === 0 ? 'every bar is met' : `${missed} bars are missed`}\n`);
  return missed === 0 ? 0 : 1;
}

process.exitCode = await main();
