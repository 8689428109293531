/**
 * Measures the arms under a workload in one run, in alternating order, so that other load on the
 * machine affects all of them; differences and ratios are computed within a round, and the median
 * over rounds is the result.
 */
import type { Arm, ArmName, Rig } from './arms.ts';
import { isSettled, median, medianDifference, medianRatio } from './figures.ts';
import type { Quantiles } from './figures.ts';
import type { LoadJob, LoadResult } from './load.ts';
import type { Workload } from './workloads.ts';

/** How long to measure. */
export interface CompareOptions {
  readonly rounds: number;
  /** Seconds of load per arm and round, multiplied by the workload's own factor. */
  readonly seconds: number;
  /** Warm-up slices at most; default 15. */
  readonly warmUpSlices?: number;
  /** Called with the current step. */
  readonly onProgress: (text: string) => void;
}

/** One arm in one round. */
export interface Sample {
  readonly result: LoadResult;
  readonly perSecond: number;
  /** CPU of the proxy's process per request, in microseconds; null without a proxy. */
  readonly cpuUs: number | null;
  readonly rssBytes: number | null;
}

/** One arm's figures: medians over the rounds. Times in milliseconds unless stated otherwise. */
export interface ArmFigures {
  readonly name: ArmName;
  readonly perSecond: number;
  /** Requests per second relative to the plain proxy in the same round. */
  readonly overPlain: number;
  readonly latency: Quantiles;
  readonly first: Quantiles;
  /** Relative to `direct` in the same round; null for `direct` itself. */
  readonly addedP50Ms: number | null;
  readonly addedP99Ms: number | null;
  readonly addedFirstMs: number | null;
  readonly cpuUsPerRequest: number | null;
  readonly cpuUsPerEvent: number | null;
  readonly rssStartBytes: number | null;
  readonly rssEndBytes: number | null;
  /** Share of one core that the load generator used. */
  readonly loadCpuShare: number;
  readonly requests: number;
  readonly failed: number;
}

/** Result for one workload. */
export interface Comparison {
  readonly workload: string;
  readonly about: string;
  readonly rounds: number;
  readonly arms: readonly ArmFigures[];
  /** svc relative to plain: throughput, and CPU per request. */
  readonly throughputRatio: number;
  readonly cpuRatio: number;
}

/**
 * Warm-up until the code is compiled: this many requests, then one-second slices that agree. At
 * 1,000 requests a second the compiler was active for some ten seconds, causing the slowest
 * requests; paced streams, with fewer requests, use all slices.
 */
const WARM_UP_REQUESTS = 10_000;
const WARM_UP_SLICES = 15;
const WARM_UP_SPAN = 3;
const WARM_UP_TOLERANCE = 0.08;

/** Warms up every arm, then measures. Throws if an arm's responses differ from the direct ones. */
export async function compare(
  rig: Rig,
  workload: Workload,
  options: CompareOptions,
): Promise<Comparison> {
  const sliceMs = options.seconds * 1000 * (workload.length ?? 1);
  let sent = 0;
  const slice = async (arm: Arm, forMs: number): Promise<Sample> => {
    const sample = await measure(rig, arm, workload, forMs, sent);
    sent += sample.result.ok + failedOf(sample);
    return sample;
  };
  for (const arm of rig.arms) await warmUp(slice, arm, workload, sliceMs, options);
  const samples = new Map<ArmName, Sample[]>(rig.arms.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    const order = round % 2 === 0 ? rig.arms : rig.arms.toReversed();
    for (const arm of order) {
      options.onProgress(`${workload.name}: round ${round + 1} of ${options.rounds}, ${arm.name}`);
      samples.get(arm.name)!.push(await slice(arm, sliceMs));
    }
  }
  refuseDifferences(workload, samples);
  return summarise(workload, samples);
}

async function warmUp(
  slice: (arm: Arm, forMs: number) => Promise<Sample>,
  arm: Arm,
  workload: Workload,
  sliceMs: number,
  { warmUpSlices = WARM_UP_SLICES, onProgress }: CompareOptions,
): Promise<void> {
  const isPaced = workload.rate !== undefined;
  const speeds: number[] = [];
  let requests = 0;
  while (speeds.length < warmUpSlices) {
    onProgress(`${workload.name}: warming up ${arm.name}, slice ${speeds.length + 1}`);
    const sample = await slice(arm, Math.min(1000, sliceMs));
    requests += sample.result.ok;
    // With a fixed rate, throughput says nothing; the cost still decreases.
    speeds.push(isPaced ? (sample.cpuUs ?? 1) : sample.perSecond);
    const isCompiled = requests >= WARM_UP_REQUESTS;
    if (isCompiled && isSettled(speeds, WARM_UP_SPAN, WARM_UP_TOLERANCE)) return;
  }
}

/** `first`: the number of the first request or conversation; no other slice sent it or a later one. */
async function measure(
  { load }: Rig,
  arm: Arm,
  workload: Workload,
  forMs: number,
  first: number,
): Promise<Sample> {
  const { path, body, connections, rate, serial, conversation, warmCuts } = workload;
  const job: LoadJob = {
    port: arm.port,
    path,
    headers: { ...workload.headers, ...arm.headers },
    body,
    connections,
    forMs,
    ...(rate !== undefined && { rate }),
    ...(serial !== undefined && { serial: { text: serial, first } }),
    ...(conversation !== undefined && { conversation }),
  };
  if (conversation !== undefined && warmCuts !== undefined)
    await load.call('run', { ...job, conversation: { ...conversation, cuts: warmCuts } });
  const before = await arm.usage?.();
  const result = await load.call('run', job);
  const after = await arm.usage?.();
  const cpuUs = before && after && result.ok > 0 ? (after.cpuUs - before.cpuUs) / result.ok : null;
  return {
    result,
    perSecond: (result.ok / result.tookMs) * 1000,
    cpuUs,
    rssBytes: after?.rssBytes ?? null,
  };
}

function failedOf({ result }: Sample): number {
  return Object.values(result.failed).reduce((sum, count) => sum + count, 0);
}

/** A proxy that loses or adds bytes is wrong, however fast; one that only fails is shown as such. */
function refuseDifferences(
  workload: Workload,
  samples: ReadonlyMap<ArmName, readonly Sample[]>,
): void {
  const sizesOf = (name: ArmName): string => {
    const added = name === 'svc' ? (workload.addedBytes ?? 0) : 0;
    const sizes = samples.get(name)?.flatMap(({ result }) => result.bodyBytes) ?? [];
    return [...new Set(sizes.map((bytes) => bytes - added))].toString();
  };
  const direct = sizesOf('direct');
  for (const name of samples.keys()) {
    // The provider counts the tokens that svc saves, with fewer digits.
    if (name === 'svc' && workload.conversation !== undefined) continue;
    const isSilent = samples.get(name)!.every(({ result }) => result.ok === 0);
    if (sizesOf(name) === direct || isSilent) continue;
    throw new Error(
      `${workload.name}: bodies through ${name} have ${sizesOf(name)} bytes, directly ${direct}`,
    );
  }
}

function summarise(
  workload: Workload,
  samples: ReadonlyMap<ArmName, readonly Sample[]>,
): Comparison {
  const samplesOf = (name: ArmName, pick: (sample: Sample) => number): number[] =>
    (samples.get(name) ?? []).map(pick);
  const over = (pick: (sample: Sample) => number): number =>
    medianRatio(samplesOf('svc', pick), samplesOf('plain', pick));
  return {
    workload: workload.name,
    about: workload.about,
    rounds: samples.get('direct')?.length ?? 0,
    arms: [...samples].map(([name, own]) =>
      armFigures(workload, name, own, samples.get('direct')!, samples.get('plain')),
    ),
    throughputRatio: over(({ perSecond }) => perSecond),
    cpuRatio: over(({ cpuUs }) => cpuUs ?? Number.NaN),
  };
}

/**
 * Computes one arm's medians. `direct` and `plain` are the samples of the same rounds without a
 * proxy and through the plain one.
 */
export function armFigures(
  workload: Pick<Workload, 'events'>,
  name: ArmName,
  own: readonly Sample[],
  direct: readonly Sample[],
  plain: readonly Sample[] = [],
): ArmFigures {
  const middle = (pick: (sample: Sample) => number): number => median(own.map(pick));
  const added = (pick: (sample: Sample) => number): number | null =>
    name === 'direct' ? null : medianDifference(own.map(pick), direct.map(pick));
  const hasProxy = own.every(({ cpuUs }) => cpuUs !== null);
  const cpuUs = hasProxy ? middle((sample) => sample.cpuUs!) : null;
  const { events } = workload;
  const spread = (pick: (result: LoadResult) => Quantiles): Quantiles => ({
    p50: middle(({ result }) => pick(result).p50),
    p95: middle(({ result }) => pick(result).p95),
    p99: middle(({ result }) => pick(result).p99),
  });
  return {
    name,
    perSecond: middle(({ perSecond }) => perSecond),
    overPlain: median(
      own.map(({ perSecond }, round) => perSecond / (plain[round]?.perSecond ?? Number.NaN)),
    ),
    latency: spread(({ latency }) => latency),
    first: spread(({ first }) => first),
    addedP50Ms: added(({ result }) => result.latency.p50),
    addedP99Ms: added(({ result }) => result.latency.p99),
    addedFirstMs: added(({ result }) => result.first.p50),
    cpuUsPerRequest: cpuUs,
    cpuUsPerEvent: cpuUs === null || events === 0 ? null : cpuUs / events,
    rssStartBytes: own[0]?.rssBytes ?? null,
    rssEndBytes: own.at(-1)?.rssBytes ?? null,
    loadCpuShare: middle(({ result }) => result.cpuShare),
    requests: own.reduce((sum, { result }) => sum + result.ok, 0),
    failed: own.reduce((sum, sample) => sum + failedOf(sample), 0),
  };
}
