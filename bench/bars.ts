/** The performance targets of svc as numbers, and whether a run met them. Pure functions. */
import { BACKENDS } from '../stages/vault/backends/block-index.ts';
import type { ArmFigures, Comparison } from './compare.ts';
import type { ArmName } from './arms.ts';
import type { LoopRun } from './loop.ts';
import type { CostRun } from './observability.ts';
import type { Quality } from './vault-quality.ts';
import type { QueryRun, VaultRun } from './vault-speed.ts';

/** One measured promise. */
export interface Verdict {
  readonly what: string;
  /** The measured value; NaN if a part of it is missing. */
  readonly value: number;
  readonly unit:
    | 'x'
    | 'ms'
    | 's'
    | 'MB'
    | '%'
    | 'lines'
    | 'texts'
    | 'turns'
    | 'files/s'
    | 'points'
    | 'rows';
  readonly bar: number;
  readonly direction: 'at least' | 'at most';
  readonly met: boolean;
}

/** A bar for one workload. */
interface Bar {
  readonly workload: string;
  readonly what: string;
  readonly unit: Verdict['unit'];
  readonly direction: Verdict['direction'];
  readonly bar: number;
  readonly value: (comparison: Comparison) => number;
}

/**
 * On a noisy machine the plain proxy can seem to add nothing, and no proxy could stay below twice
 * that.
 */
const MIN_P99_MS = 0.1;

const addedP50: Omit<Bar, 'workload'> = {
  what: 'p50 added',
  unit: 'ms',
  direction: 'at most',
  bar: 1,
  value: (comparison) => arm(comparison, 'svc')?.addedP50Ms ?? Number.NaN,
};
const addedP99: Omit<Bar, 'workload'> = {
  what: "p99 added, over the plain proxy's",
  unit: 'x',
  direction: 'at most',
  bar: 2,
  value: (comparison) =>
    (arm(comparison, 'svc')?.addedP99Ms ?? Number.NaN) /
    Math.max(MIN_P99_MS, arm(comparison, 'plain')?.addedP99Ms ?? Number.NaN),
};
const throughput: Omit<Bar, 'workload' | 'bar'> = {
  what: "throughput over the plain proxy's",
  unit: 'x',
  direction: 'at least',
  value: ({ throughputRatio }) => throughputRatio,
};

const bars: readonly Bar[] = [
  { ...throughput, workload: 'json', bar: 0.75 },
  { ...throughput, workload: 'json-chat', bar: 0.75 },
  { ...addedP50, workload: 'json' },
  { ...addedP99, workload: 'json' },
  { ...addedP50, workload: 'json-paced' },
  { ...addedP99, workload: 'json-paced' },
  { ...throughput, workload: 'sse-burst', bar: 1.5 },
  { ...throughput, workload: 'sse-burst-chat', bar: 1.5 },
  {
    workload: 'sse-spaced',
    what: 'first event added',
    unit: 'ms',
    direction: 'at most',
    bar: 1,
    value: (comparison) => arm(comparison, 'svc')?.addedFirstMs ?? Number.NaN,
  },
  { ...throughput, workload: 'agent-400k', bar: 0.5 },
  {
    workload: 'agent-1m',
    what: 'p99 added',
    unit: 'ms',
    direction: 'at most',
    bar: 10,
    value: (comparison) => arm(comparison, 'svc')?.addedP99Ms ?? Number.NaN,
  },
];

/** Judges the bars of `comparison`'s workload. */
export function judge(comparison: Comparison): readonly Verdict[] {
  return bars
    .filter(({ workload }) => workload === comparison.workload)
    .map(({ value, workload, ...bar }) => verdict(bar, value(comparison), workload));
}

/** Judges the time from start to listening of the built program: at most half a second. */
export function judgeStart(seconds: number): Verdict {
  const bar = { what: 'start to listening', unit: 's', direction: 'at most', bar: 0.5 } as const;
  return verdict(bar, seconds);
}

/**
 * Judges a workload's event loop: blocked for less than 20 ms in 99 of 100 turns, with all work
 * completed.
 */
export function judgeLoop({
  workload,
  requests,
  failed,
  p99Ms,
}: Pick<LoopRun, 'workload' | 'requests' | 'failed' | 'p99Ms'>): Verdict {
  const bar = { what: 'event loop p99', unit: 'ms', direction: 'at most', bar: 20 } as const;
  const isWhole = requests > 0 && failed === 0;
  return verdict(bar, isWhole ? p99Ms : Number.NaN, workload);
}

/**
 * CPU per request that observing may add, and an open dashboard on top of it, as the upper end of
 * the interval.
 */
const COST_PERCENT = { observed: 10, recorded: 10, dashboard: 5 } as const;
const COST_OF = {
  observed: 'CPU by what settings turn off',
  recorded: 'CPU by all that is recorded',
  dashboard: 'CPU by an open dashboard',
} as const;

/** Judges the cost of observing a request; all requests must succeed. */
export function judgeCost({ workload, what, upper, failed }: CostVerdictInput): Verdict {
  const bar = { unit: '%', direction: 'at most', bar: COST_PERCENT[what] } as const;
  const value = failed === 0 ? upper * 100 : Number.NaN;
  return verdict({ ...bar, what: COST_OF[what] }, value, workload);
}

type CostVerdictInput = Pick<CostRun, 'workload' | 'what' | 'upper' | 'failed'>;

/** Files per second in a first indexing. */
const COLD_FILES = { prose: 1_500, code: 200 } as const;
/** Median time of a query with up to 32 terms; one with 100 may take four times as long. */
const QUERY_MS = { json_blocks: 5, sqlite: 15 } as const;
const QUERY_P99 = 4;

/**
 * Judges the vault's speed: indexing a new and an unchanged folder, queries of both lengths, and
 * the time until a change is found.
 */
export function judgeVault(run: Omit<VaultRun, 'lines'>): readonly Verdict[] {
  const max = { direction: 'at most' } as const;
  const indexing = (['prose', 'code'] as const).flatMap((kind) => {
    const found = run.indexing.find((one) => one.kind === kind);
    const cold = { what: 'new', unit: 'files/s', direction: 'at least' } as const;
    const warm = { ...max, what: 'unchanged', unit: 's', bar: 1 } as const;
    return [
      verdict({ ...cold, bar: COLD_FILES[kind] }, found?.filesPerSecond ?? Number.NaN, kind),
      verdict(warm, found?.unchangedSeconds ?? Number.NaN, kind),
    ];
  });
  const queries = BACKENDS.flatMap((backend) =>
    (['short', 'long'] as const).flatMap((length) => {
      const isMatch = (one: QueryRun): boolean => one.backend === backend && one.length === length;
      const found = run.queries.find(isMatch);
      const p50 = { ...max, what: `${length} queries, p50`, unit: 'ms' } as const;
      const p99 = { ...max, what: `${length} queries, p99`, unit: 'ms' } as const;
      const bar = QUERY_MS[backend];
      return [
        verdict({ ...p50, bar }, found?.p50Ms ?? Number.NaN, backend),
        verdict({ ...p99, bar: bar * QUERY_P99 }, found?.p99Ms ?? Number.NaN, backend),
      ];
    }),
  );
  const watch = { ...max, what: 'a change is found', unit: 's', bar: 1 } as const;
  return [...indexing, ...queries, verdict(watch, run.watchSeconds)];
}

/** Judges retrieval: nDCG@10 of each backend, in percent, and equal scores of both. */
export function judgeRetrieval(
  qualities: readonly Pick<Quality, 'backend' | 'ndcg10'>[],
  scoreGap: number,
): readonly Verdict[] {
  const bar = { what: 'nDCG@10', unit: '%', direction: 'at least', bar: 38.5 } as const;
  const same = { what: 'difference of scores', unit: 'points', direction: 'at most' } as const;
  return [
    ...BACKENDS.map((backend) => {
      const found = qualities.find((one) => one.backend === backend);
      return verdict(bar, (found?.ndcg10 ?? Number.NaN) * 100, backend);
    }),
    verdict({ ...same, bar: 0 }, scoreGap),
  ];
}

const MB = 1024 * 1024;
/**
 * Growth over the second half of the requests that still counts as flat: caches fill, pages age.
 */
const FLAT_MB = 8;

/**
 * Memory over a long run: never above 200 MB (`maxMb`), and level in its second half. The samples
 * are bytes at equal distances; level means that the mean of the last quarter is at most 8 MB above
 * that of the third.
 */
export function judgeMemory(rssBytes: readonly number[], maxMb = 200): readonly Verdict[] {
  const quarter = Math.max(1, Math.floor(rssBytes.length / 4));
  const last = mean(rssBytes.slice(-quarter));
  const third = mean(rssBytes.slice(-2 * quarter, -quarter));
  const max = {
    what: 'memory (RSS), most',
    unit: 'MB',
    direction: 'at most',
    bar: maxMb,
  } as const;
  const growth = {
    what: 'memory growth, last quarter over the third',
    unit: 'MB',
    direction: 'at most',
    bar: FLAT_MB,
  } as const;
  return [
    verdict(max, rssBytes.length === 0 ? Number.NaN : Math.max(...rssBytes) / MB),
    verdict(growth, (last - third) / MB),
  ];
}

/** Judges a value against its bar; an unmeasured value fails. */
export function verdict(
  bar: Pick<Verdict, 'what' | 'unit' | 'direction' | 'bar'>,
  value: number,
  workload?: string,
): Verdict {
  const met = bar.direction === 'at least' ? value >= bar.bar : value <= bar.bar;
  const { what, unit, direction } = bar;
  const named = workload === undefined ? what : `${workload}: ${what}`;
  return { what: named, value, unit, bar: bar.bar, direction, met };
}

function arm({ arms }: Comparison, name: ArmName): ArmFigures | undefined {
  return arms.find((one) => one.name === name);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
