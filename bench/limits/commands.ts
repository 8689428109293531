/** Measures small commands, compared with a Node process that does nothing. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { entry, makePlace, run } from '../../fixtures/cli/run.ts';
import { READING_COMMANDS } from '../../fixtures/cli/reading-commands.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import type { LimitGroup, Measured } from './limit.ts';

const ROUNDS = 5;
const HELP_MS = 150;
const READING_MS = 300;

async function startUp(): Promise<readonly Measured[]> {
  const place = makePlace();
  try {
    await run(place, ['config', 'init']);
    await openIn(place.folder, { file: join(place.home, 'monitor.db') }).writer.close();
    const best = new Map<string, number>();
    const time = (name: string, argv: readonly string[]): void => {
      const startedMs = performance.now();
      const { status, stderr } = spawnSync(process.execPath, argv, {
        env: place.env,
        cwd: place.folder,
        encoding: 'utf8',
      });
      const ms = performance.now() - startedMs;
      if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
      best.set(name, Math.min(ms, best.get(name) ?? Number.POSITIVE_INFINITY));
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      time('node -e 0', ['-e', '0']);
      time('svc --help', [entry, '--help']);
      for (const argv of READING_COMMANDS) time(`svc ${argv.join(' ')}`, [entry, ...argv]);
    }
    return [...best].map(([name, value]) => ({
      what: name,
      unit: 'ms',
      max: name === 'svc --help' ? HELP_MS : READING_MS,
      value,
    }));
  } finally {
    place.dispose();
  }
}

/** Wall time of read-only commands. */
export const COMMAND_LIMITS: readonly LimitGroup[] = [
  { name: 'commands that only read, best of five', measure: startUp },
];
