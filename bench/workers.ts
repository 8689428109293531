/**
 * Measures the benefit of a second compression thread: two proxies, limited to one thread and two
 * threads, get the same load alternately. Each request is a new conversation, so that all of it has
 * to be compressed.
 */
import { startChild, startUpstreamProcess } from './channel.ts';
import type { Child } from './channel.ts';
import { median, medianRatio } from './figures.ts';
import type { LoadCommands, LoadResult } from './load.ts';
import type { LoopDelay } from './loop-delay.ts';
import { columns, decimals } from './report.ts';
import type { SvcCommands } from './svc-proxy.ts';
import { toolResults } from './tool-results.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const THREADS = [1, 2] as const;
type Threads = (typeof THREADS)[number];

/** One way in one round. */
interface Slice {
  readonly perSecond: number;
  /** Relative to the direct way in the same round. */
  readonly addedP50Ms: number;
  readonly addedP95Ms: number;
  readonly loop: LoopDelay;
  readonly requests: number;
  readonly failed: number;
}

/** Result for one request size. */
export interface WorkersRun {
  readonly workload: string;
  readonly about: string;
  readonly rounds: number;
  readonly ways: readonly WayRun[];
  /** Medians of two threads over one, round by round. */
  readonly throughputRatio: number;
  readonly addedP50Ratio: number;
  readonly addedP95Ratio: number;
}

interface WayRun {
  readonly most: Threads;
  /** Compression threads at the end. */
  readonly ran: number;
  readonly slices: readonly Slice[];
  readonly rssBytes: number;
}

export interface WorkersOptions {
  readonly rounds: number;
  /** Seconds per slice. */
  readonly seconds: number;
  readonly onProgress: (text: string) => void;
}

interface Rig {
  readonly upstream: { readonly port: number };
  readonly load: Child<LoadCommands>;
  readonly ways: ReadonlyMap<Threads, Child<SvcCommands>>;
  /** Requests sent so far, from which the next serial numbers continue. */
  sent: number;
}

const CLIENTS = 8;
const base: Workload = workloads.find(({ name }) => name === 'json')!;
/** About 120 and 400 KB. */
const LOADS: readonly Workload[] = [400, 1320].map((lines) => toolResults(base, lines, CLIENTS));
/** Warm-up until code is compiled, and all threads have started. */
const WARM_UP_MS = 8000;

/** Measures both ways with each request size. */
export async function measureWorkers(options: WorkersOptions): Promise<readonly WorkersRun[]> {
  const upstream = await startUpstreamProcess();
  const load = await startChild<LoadCommands>('bench/load.js');
  const ways = new Map<Threads, Child<SvcCommands>>();
  const rig: Rig = { upstream, load, ways, sent: 0 };
  try {
    for (const max of THREADS) {
      const args = [String(upstream.port), String(max)];
      ways.set(max, await startChild<SvcCommands>('app/svc-proxy.js', { args }));
    }
    const runs: WorkersRun[] = [];
    for (const workload of LOADS) runs.push(await measure(rig, workload, options));
    return runs;
  } finally {
    for (const child of [...ways.values(), load, upstream]) await child.close();
  }
}

async function measure(
  rig: Rig,
  workload: Workload,
  { rounds, seconds, onProgress }: WorkersOptions,
): Promise<WorkersRun> {
  const kb = Math.round(workload.body.length / 1024);
  const name = `${kb} KB, ${CLIENTS} clients`;
  const slices = new Map<Threads, Slice[]>(THREADS.map((max) => [max, []]));
  for (const [most, { port }] of rig.ways) {
    onProgress(`${name}: warming up ${most}`);
    await send(rig, port, workload, WARM_UP_MS);
  }
  for (let round = 0; round < rounds; round += 1) {
    onProgress(`${name}: round ${round + 1} of ${rounds}`);
    const direct = await send(rig, rig.upstream.port, workload, seconds * 1000);
    for (const max of THREADS) {
      const proxy = rig.ways.get(max)!;
      await proxy.call('loopDelay');
      const result = await send(rig, proxy.port, workload, seconds * 1000);
      slices.get(max)!.push(sliceOf(result, direct, await proxy.call('loopDelay')));
    }
  }
  const ways: WayRun[] = [];
  for (const [most, proxy] of rig.ways) {
    const ran = await proxy.call('compressThreads');
    const { rssBytes } = await proxy.call('usage');
    ways.push({ most, ran, slices: slices.get(most)!, rssBytes });
  }
  const ratio = (of: (slice: Slice) => number): number =>
    medianRatio(slices.get(2)!.map(of), slices.get(1)!.map(of));
  return {
    workload: name,
    about: workload.about,
    rounds,
    ways,
    throughputRatio: ratio(({ perSecond }) => perSecond),
    addedP50Ratio: ratio(({ addedP50Ms }) => addedP50Ms),
    addedP95Ratio: ratio(({ addedP95Ms }) => addedP95Ms),
  };
}

async function send(rig: Rig, port: number, workload: Workload, forMs: number) {
  const { path, headers, body, connections, serial } = workload;
  const job = { port, path, headers, body, connections, forMs };
  const numbered = { ...job, serial: { text: serial!, first: rig.sent } };
  const result = await rig.load.call('run', numbered);
  rig.sent += result.ok + failedOf(result);
  return result;
}

function sliceOf(result: LoadResult, direct: LoadResult, loop: LoopDelay): Slice {
  return {
    perSecond: (result.ok / result.tookMs) * 1000,
    addedP50Ms: result.latency.p50 - direct.latency.p50,
    addedP95Ms: result.latency.p95 - direct.latency.p95,
    loop,
    requests: result.ok,
    failed: failedOf(result),
  };
}

function failedOf({ failed }: LoadResult): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}

const HEAD = ['', 'ran', 'req/s', '+p50 ms', '+p95 ms', 'loop p99', 'loop max', 'RSS MB', 'failed'];

/** Formats a table and a line of ratios, without a final line end. */
export function workersText({ workload, about, rounds, ways, ...ratios }: WorkersRun): string {
  const rows = ways.map(({ most, ran, slices, rssBytes }) => {
    const middle = (of: (slice: Slice) => number): string => decimals(median(slices.map(of)), 1);
    return [
      most === 1 ? '1 thread' : `${most} threads`,
      String(ran),
      middle(({ perSecond }) => perSecond),
      middle(({ addedP50Ms }) => addedP50Ms),
      middle(({ addedP95Ms }) => addedP95Ms),
      middle(({ loop }) => loop.p99Ms),
      decimals(Math.max(...slices.map(({ loop }) => loop.maxMs)), 1),
      decimals(rssBytes / 1024 / 1024, 0),
      String(slices.reduce((sum, { failed }) => sum + failed, 0)),
    ];
  });
  const { throughputRatio, addedP50Ratio, addedP95Ratio } = ratios;
  return [
    `${workload}: ${about} (median of ${rounds})`,
    ...columns([HEAD, ...rows]),
    `  2 threads over 1: throughput ${decimals(throughputRatio, 2)}x, added p50 ${decimals(addedP50Ratio, 2)}x, p95 ${decimals(addedP95Ratio, 2)}x`,
  ].join('\n');
}
