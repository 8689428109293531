/** Measures `svc statusline` as a process, compared with a Node process that does nothing. */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STATUSLINE_FILE } from '../../cli/integrate/statusline.ts';
import { until } from '../../fixtures/cli/live.ts';
import { entry, makePlace, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import type { LimitGroup, Measured } from './limit.ts';

/** Starts of each kind, alternating. */
const STARTS = 250;
const P99_MS = 60;
/** Limit for the time beyond Node's own start. */
const ADDED_MEDIAN_MS = 30;

const INPUT = JSON.stringify({
  session_id: 'bench',
  model: { id: 'claude-opus-5-5', display_name: 'Opus 5.5' },
  workspace: { current_dir: '/home/me/project' },
  cost: { total_cost_usd: 1.5 },
  context_window: { used_percentage: 42, context_window_size: 200_000 },
  rate_limits: { five_hour: { used_percentage: 40, resets_at: 4_000_000_000 } },
});

/** What `svc integrate claude-code --statusline` has Claude Code start. */
const STATUSLINE_ENTRY = join(dirname(entry), STATUSLINE_FILE);

/** Prefix for the name of a plain Node measurement alongside a state. */
const PLAIN_NODE_PREFIX = 'node beside: ';

type Times = Map<string, number[]>;

/**
 * Returns the milliseconds until the process has ended. Throws if it does not print exactly one
 * line.
 */
function time(place: Place, argv: readonly string[]): number {
  const startedMs = performance.now();
  const ran = spawnSync(process.execPath, argv, { env: place.env, input: INPUT, encoding: 'utf8' });
  const ms = performance.now() - startedMs;
  const isLine = argv[0] !== STATUSLINE_ENTRY || /^[^\n]*Opus 5\.5[^\n]*\n$/.test(ran.stdout);
  if (ran.status !== 0 || ran.stderr !== '' || !isLine)
    throw new Error(`${argv.join(' ')}: ${ran.status} ${ran.stderr} ${ran.stdout}`);
  return ms;
}

/** Alternates between plain Node and statusline, so that both see the same load. */
function alternate(place: Place, times: Times, state: string, count = STARTS): void {
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms]);
  for (let n = 0; n < count; n += 1) {
    note(`${PLAIN_NODE_PREFIX}${state}`, time(place, ['-e', '0']));
    note(state, time(place, [STATUSLINE_ENTRY]));
  }
}

/** Measured while proxies are repeatedly about to start. */
async function starting(place: Place, times: Times): Promise<void> {
  const file = join(place.home, 'statusline.json');
  for (let done = 0; done < STARTS; done += STARTS / 10) {
    rmSync(file, { force: true });
    const proxy = start(place, ['serve', '--port', '0']);
    alternate(place, times, 'starting', STARTS / 10);
    proxy.child.kill('SIGTERM');
    await proxy.ended;
  }
}

async function measure(): Promise<readonly Measured[]> {
  const place = makePlace();
  const times: Times = new Map();
  try {
    alternate(place, times, 'no proxy');
    const proxy = start(place, ['serve', '--port', '0']);
    await proxy.prints(/listens on/);
    await until(() => existsSync(join(place.home, 'statusline.json')), 'the file');
    alternate(place, times, 'proxy runs');
    proxy.child.kill('SIGSTOP');
    alternate(place, times, 'proxy hangs');
    proxy.child.kill('SIGCONT');
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await starting(place, times);
  } finally {
    place.dispose();
  }
  return [...times].flatMap(([state, all]) => {
    const p99 = {
      what: `${state}, p99`,
      unit: 'ms',
      max: P99_MS,
      value: quantile(all, 0.99),
    } as const;
    const bare = times.get(`${PLAIN_NODE_PREFIX}${state}`);
    if (bare === undefined) return [p99];
    const beside = quantile(all, 0.5) - quantile(bare, 0.5);
    return [
      p99,
      { what: `${state}, median over node's`, unit: 'ms', max: ADDED_MEDIAN_MS, value: beside },
    ];
  });
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** A thousand starts without an error. */
export const STATUSLINE_LIMITS: readonly LimitGroup[] = [
  { name: 'statusline, a thousand starts', measure },
];
