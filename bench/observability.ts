/**
 * Measures the cost of observing: CPU per request with everything that the default settings
 * observe, compared with none of it, and with a dashboard open, compared with none. One process
 * switches between the two for short slices with the same number of requests, so that compiled
 * code, heap and other load on the machine are the same in neighbouring slices. CPU is that of the
 * whole process, including the threads that write and read the ledger; queued rows are written
 * within their slice.
 */
import { pauseAfter } from '../server/dashboard/page/pace.ts';
import { startChild, startUpstreamProcess } from './channel.ts';
import type { Child, Started } from './channel.ts';
import { median, upperMedian } from './figures.ts';
import type { LoadCommands } from './load.ts';
import type { Observed, SvcCommands } from './svc-proxy.ts';
import { toolResults } from './tool-results.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

/** Additional CPU per request of one way over the other, over pairs of neighbouring slices. */
export interface CostRun {
  readonly workload: string;
  readonly what: 'observed' | 'recorded' | 'dashboard';
  readonly rounds: number;
  /** Medians, in microseconds. */
  readonly withoutUs: number;
  readonly withUs: number;
  /** Median difference, and the upper end of its 95 % interval, as shares of `without`. */
  readonly added: number;
  readonly upper: number;
  readonly requests: number;
  readonly failed: number;
}

export interface CostOptions {
  /** Pairs of slices. */
  readonly rounds: number;
  readonly onProgress: (text: string) => void;
}

interface Slice {
  readonly cpuUs: number;
  readonly ok: number;
  readonly failed: number;
}

interface Rig {
  readonly load: Child<LoadCommands>;
  readonly proxy: Child<SvcCommands>;
  /** Requests sent so far, from which the next serial numbers continue. */
  sent: number;
}

/** What to send, and how many per slice, for some tenths of a second. */
interface Load {
  readonly workload: Workload;
  readonly requests: number;
}

const byName = (name: string): Workload => workloads.find((each) => each.name === name)!;
/** The smallest request, where observing weighs most; streams; and a turn of a coding agent. */
const LOADS: readonly Load[] = [
  { workload: byName('json'), requests: 1500 },
  { workload: byName('sse-burst'), requests: 800 },
  { workload: { ...toolResults(byName('json')), connections: 4 }, requests: 16 },
];
/**
 * A workload for the dashboard. Its slices last seconds, so it may use only a part of the rounds.
 */
interface DashboardLoad {
  readonly workload: Workload;
  readonly part: number;
}
/** Small requests; and a person at work: some requests a second, each of a session's size. */
const DASHBOARD_LOADS: readonly DashboardLoad[] = [
  { workload: byName('json-paced'), part: 1 / 2 },
  { workload: { ...toolResults(byName('json')), connections: 4, rate: 10 }, part: 1 },
];
const WARM_UP_SLICES = 20;
/** Contains two refreshes of the current state. */
const DASHBOARD_SLICE_MS = 4000;

const SETTINGS_OFF_ONLY = { observed: 'settings-off', recorded: 'nothing' } as const;

/**
 * Measures observation as far as settings turn it off, and also without the rows and traces that no
 * setting turns off.
 */
export async function measureObserved({
  rounds,
  onProgress,
}: CostOptions): Promise<readonly CostRun[]> {
  const runs: CostRun[] = [];
  for (const { workload, requests } of LOADS) {
    await withProxy(async (rig) => {
      const send = () => sliceOf(rig, workload, { requests });
      onProgress(`${workload.name}: warming up`);
      for (let slice = 0; slice < WARM_UP_SLICES; slice += 1) await send();
      for (const what of ['observed', 'recorded'] as const) {
        const pairs = await alternate(rounds, async (isWith, round) => {
          onProgress(`${workload.name}, ${what}: round ${round + 1} of ${rounds}`);
          const how: Observed = isWith ? 'default' : SETTINGS_OFF_ONLY[what];
          await rig.proxy.call('observe', how);
          return send();
        });
        runs.push(costRun(workload.name, what, pairs));
      }
    });
  }
  return runs;
}

/** Measures a dashboard that is open in every other slice. */
export async function measureDashboard({
  rounds,
  onProgress,
}: CostOptions): Promise<readonly CostRun[]> {
  const runs: CostRun[] = [];
  for (const { workload, part } of DASHBOARD_LOADS) {
    const load = Math.ceil(rounds * part);
    await withProxy(async (rig) => {
      const viewer = createViewer(rig.proxy.port);
      const send = () => sliceOf(rig, workload, { forMs: DASHBOARD_SLICE_MS });
      onProgress(`${workload.name}: warming up`);
      await viewer.open();
      await send();
      await viewer.close();
      await send();
      const pairs = await alternate(load, async (isWith, round) => {
        onProgress(`${workload.name}, dashboard: round ${round + 1} of ${load}`);
        if (isWith) await viewer.open();
        const slice = await send();
        if (isWith) await viewer.close();
        return slice;
      });
      runs.push(costRun(workload.name, 'dashboard', pairs));
    });
  }
  return runs;
}

interface Pairs {
  readonly with: readonly Slice[];
  readonly without: readonly Slice[];
}

/** Runs the pairs in the order: with, without; without, with; and so on. */
async function alternate(
  rounds: number,
  run: (isWith: boolean, round: number) => Promise<Slice>,
): Promise<Pairs> {
  const pairs = { with: [] as Slice[], without: [] as Slice[] };
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0;
    for (const isWith of [first, !first])
      pairs[isWith ? 'with' : 'without'].push(await run(isWith, round));
  }
  return pairs;
}

async function sliceOf(
  rig: Rig,
  { path, headers, body, connections, rate, serial }: Workload,
  length: { readonly requests: number } | { readonly forMs: number },
): Promise<Slice> {
  const { load, proxy } = rig;
  const before = await proxy.call('usage');
  const { ok, failed } = await load.call('run', {
    port: proxy.port,
    path,
    headers,
    body,
    connections,
    ...length,
    ...(rate === undefined ? {} : { rate }),
    ...(serial === undefined ? {} : { serial: { text: serial, first: rig.sent } }),
  });
  await proxy.call('written');
  const after = await proxy.call('usage');
  rig.sent += ok;
  const lost = Object.values(failed).reduce((sum, each) => sum + each, 0);
  return { cpuUs: (after.cpuUs - before.cpuUs) / ok, ok, failed: lost };
}

/** A dashboard that is open some of the time; its cost depends on how long. */
interface Viewer {
  open(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads like the first screen: the event stream, and the report again after a pause that depends on
 * how long the last one took. Like the page, ignores the time of the first report.
 */
function createViewer(port: number): Viewer {
  const url = `http://127.0.0.1:${port}/dashboard`;
  let waitMs: number | undefined;
  let openedMs = 0;
  let abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`${url}${path}`, { signal: abort.signal });
    if (!response.ok) throw new Error(`${path}: status ${response.status}`);
    return response;
  };
  const refresh = async (): Promise<void> => {
    const startedMs = performance.now();
    const since = new Date(Date.now() - 24 * 3600 * 1000).toISOString();
    const response = await get(`/api/report?since=${encodeURIComponent(since)}`);
    await response.json();
    waitMs = pauseAfter(waitMs === undefined ? 0 : performance.now() - startedMs);
    plan();
  };
  const plan = (): void => {
    openedMs = performance.now();
    timer = setTimeout(() => {
      running = refresh();
      // Awaited, and reported, when the dashboard is closed.
      running.catch(() => undefined);
    }, waitMs);
  };
  return {
    async open() {
      abort = new AbortController();
      const { body } = await get('/events');
      const reader = body!.getReader();
      await reader.read();
      if (waitMs === undefined) await refresh();
      else plan();
      const read = async (): Promise<void> => {
        while (!(await reader.read()).done);
      };
      const { signal } = abort;
      void read()
        .catch(() => undefined)
        .then(() => (isOver ||= !signal.aborted));
    },
    async close() {
      await running;
      if (isOver) throw new Error('the events ended while the dashboard was open');
      clearTimeout(timer);
      waitMs = Math.max(0, (waitMs ?? 0) - (performance.now() - openedMs));
      abort.abort();
    },
  };
}

function costRun(workload: string, what: CostRun['what'], pairs: Pairs): CostRun {
  const costs = (of: readonly Slice[]): number[] => of.map(({ cpuUs }) => cpuUs);
  const added = pairs.with.map(({ cpuUs }, at) => cpuUs / pairs.without[at]!.cpuUs - 1);
  const all = [...pairs.with, ...pairs.without];
  return {
    workload,
    what,
    rounds: added.length,
    withoutUs: median(costs(pairs.without)),
    withUs: median(costs(pairs.with)),
    added: median(added),
    upper: upperMedian(added),
    requests: all.reduce((sum, { ok }) => sum + ok, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

async function withProxy(use: (rig: Rig) => Promise<void>): Promise<void> {
  const opened: Started[] = [];
  const keep = <T extends Started>(started: T): T => {
    opened.unshift(started);
    return started;
  };
  try {
    const upstream = keep(await startUpstreamProcess());
    const args = [String(upstream.port)];
    const proxy = keep(await startChild<SvcCommands>('app/svc-proxy.js', { args }));
    const load = keep(await startChild<LoadCommands>('bench/load.js'));
    await use({ proxy, load, sent: 0 });
  } finally {
    for (const started of opened) await started.close();
  }
}
