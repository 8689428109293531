/** How long small commands take, against a Node that does nothing, in turn on the same machine. */
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { entry, makePlace, run } from '../../fixtures/cli/run.ts';
import { join } from 'node:path';

const ROUNDS = 9;
/** `node -e 0` on a quiet machine; where it takes longer, everything may. */
const QUIET_NODE_MS = 40;
const HELP_MS = 150;
const READING_MS = 300;

const READING: readonly (readonly string[])[] = [
  ['stats'],
  ['models'],
  ['savings'],
  ['requests'],
  ['timeline'],
  ['cost', '--week'],
  ['report'],
  ['config', 'show'],
  ['config', 'validate'],
  ['route', 'list'],
  ['auth', 'list'],
  ['template', 'list'],
  ['list-pricing'],
  ['version'],
  ['help', 'compression'],
];

test('help and commands that only read start at once', async () => {
  const place = makePlace();
  await run(place, ['config', 'init']);
  await openIn(place.folder, { file: join(place.home, 'monitor.db') }).writer.close();
  const took = (argv: readonly string[]): number => {
    const startedMs = performance.now();
    const { status, stderr } = spawnSync(process.execPath, argv, {
      env: place.env,
      cwd: place.folder,
      encoding: 'utf8',
    });
    const ms = performance.now() - startedMs;
    assert.is(status, 0, `${argv.join(' ')}: ${stderr}`);
    return ms;
  };
  const best = new Map<string, number>();
  const note = (name: string, ms: number) =>
    best.set(name, Math.min(ms, best.get(name) ?? Number.POSITIVE_INFINITY));
  for (let round = 0; round < ROUNDS; round += 1) {
    note('node', took(['-e', '0']));
    note('--help', took([entry, '--help']));
    for (const argv of READING) note(argv.join(' '), took([entry, ...argv]));
  }
  place.dispose();
  const slower = Math.max(1, best.get('node')! / QUIET_NODE_MS);
  const late = [...best].filter(
    ([name, ms]) => ms > (name === '--help' ? HELP_MS : READING_MS) * slower,
  );
  const times = [...best].map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`);
  process.stdout.write(`  ${times.join(', ')}\n`);
  assert.equal(late, [], `node -e 0 took ${best.get('node')!.toFixed(0)} ms`);
});

test.run();
