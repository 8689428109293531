/**
 * Measures what svc adds to given requests: each is sent through a real proxy and directly,
 * alternately, in one run.
 */
import { startRig } from './arms.ts';
import type { Arm, Rig } from './arms.ts';
import type { BenchBody } from './bodies.ts';
import { median } from './figures.ts';
import type { Quantiles } from './figures.ts';
import type { LoadResult } from './load.ts';
import type { StageTime } from './stages.ts';

/** How much to measure. */
export interface LatencyOptions {
  /** Requests per way and round. */
  readonly requests: number;
  readonly rounds: number;
  readonly onProgress: (text: string) => void;
}

/** Result for one body; times are milliseconds, medians over the rounds. */
export interface BodyLatency {
  readonly name: string;
  readonly path: string;
  readonly bodyBytes: number;
  /** Requests measured per way. */
  readonly requests: number;
  /** Responses other than 200, both ways; excluded from the figures. */
  readonly failed: number;
  readonly direct: Quantiles;
  readonly proxied: Quantiles;
  /**
   * Differences between medians: a difference of two p99 is not a p99, and may be below that of two
   * p95.
   */
  readonly addedP50: number;
  /** Same, until the first byte of the response body. */
  readonly addedFirstP50: number;
  readonly stages: readonly StageTime[];
}

/** Both ways in one round. */
interface Pair {
  readonly straight: LoadResult;
  readonly through: LoadResult;
}

const WARM_UP_REQUESTS = 2000;
/** The number of traces that the proxy keeps. */
const TRACES = 200;

/** Measures `bodies` one after another over one connection. */
export async function measureLatency(
  bodies: readonly BenchBody[],
  options: LatencyOptions,
): Promise<readonly BodyLatency[]> {
  const rig = await startRig(['direct', 'svc']);
  try {
    options.onProgress('warming up');
    for (const arm of rig.arms) await warmUp(rig, arm, bodies);
    const results: BodyLatency[] = [];
    for (const body of bodies) results.push(await measureBody(rig, body, options));
    return results;
  } finally {
    await rig.close();
  }
}

async function warmUp(rig: Rig, arm: Arm, bodies: readonly BenchBody[]): Promise<void> {
  for (const body of bodies)
    await send(rig, arm, body, Math.ceil(WARM_UP_REQUESTS / bodies.length));
}

async function measureBody(
  rig: Rig,
  body: BenchBody,
  options: LatencyOptions,
): Promise<BodyLatency> {
  const [direct, svc] = rig.arms as [Arm, Arm];
  const pairs: Pair[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    options.onProgress(`${body.name}: round ${round} of ${options.rounds}`);
    const straight = await send(rig, direct, body, options.requests);
    pairs.push({ straight, through: await send(rig, svc, body, options.requests) });
  }
  const over = (pick: (pair: Pair) => number): number => median(pairs.map(pick));
  const spread = (pick: (pair: Pair) => LoadResult): Quantiles => ({
    p50: over((pair) => pick(pair).latency.p50),
    p95: over((pair) => pick(pair).latency.p95),
    p99: over((pair) => pick(pair).latency.p99),
  });
  const all = pairs.flatMap(({ straight, through }) => [straight, through]);
  return {
    name: body.name,
    path: body.path,
    bodyBytes: Buffer.byteLength(body.body),
    requests: pairs.reduce((sum, { through }) => sum + through.ok, 0),
    failed: all
      .flatMap(({ failed }) => Object.values(failed))
      .reduce((sum, count) => sum + count, 0),
    direct: spread(({ straight }) => straight),
    proxied: spread(({ through }) => through),
    addedP50: over(({ straight, through }) => through.latency.p50 - straight.latency.p50),
    addedFirstP50: over(({ straight, through }) => through.first.p50 - straight.first.p50),
    stages: await rig.svc.call('stages', Math.min(TRACES, options.requests)),
  };
}

function send({ load }: Rig, arm: Arm, { path, headers, body }: BenchBody, requests: number) {
  return load.call('run', { port: arm.port, path, headers, body, connections: 1, requests });
}
