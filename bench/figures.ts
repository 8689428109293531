/** Statistics of the benchmarks: quantiles, medians, ratios. Pure functions. */
import { createRandom } from '../fixtures/random.ts';

/** Quantiles of one measurement, in the unit of its samples. */
export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * Returns the quantile `q` (0–1) of ascending samples by the nearest rank: always a measured value,
 * so that a rare outlier is not blended with its neighbours. NaN without samples.
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const rank = Math.ceil(q * sorted.length);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] ?? Number.NaN;
}

/** Returns p50, p95 and p99 of samples in any order. */
export function quantiles(samples: ArrayLike<number>): Quantiles {
  const sorted = Float64Array.from(samples).toSorted();
  return {
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
  };
}

/**
 * Returns the middle value; for an even number of values the mean of the middle two. NaN for none.
 */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted();
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Returns the median of `a[i] - b[i]`: what one arm adds to another, round by round. */
export function medianDifference(a: readonly number[], b: readonly number[]): number {
  return median(pairwise(a, b, (left, right) => left - right));
}

/** Returns the median of `a[i] / b[i]`. */
export function medianRatio(a: readonly number[], b: readonly number[]): number {
  return median(pairwise(a, b, (left, right) => left / right));
}

/**
 * True if a rate has settled: the newest `span` values are within `tolerance` of each other (0.05
 * is 5%), so that neither compilation nor a cold cache is measured.
 */
export function isSettled(values: readonly number[], span: number, tolerance: number): boolean {
  const newest = values.slice(-span);
  if (newest.length < span) return false;
  const min = Math.min(...newest);
  const max = Math.max(...newest);
  return max - min <= tolerance * max;
}

function pairwise(
  a: readonly number[],
  b: readonly number[],
  combine: (left: number, right: number) => number,
): number[] {
  if (a.length !== b.length) throw new RangeError(`${a.length} rounds against ${b.length}`);
  return a.map((left, index) => combine(left, b[index]!));
}

/** Number of bootstrap samples, and the seed. */
const RESAMPLES = 10_000;
const SEED = 1;

/**
 * Returns the upper end of the median's 95 % interval, by bootstrap over the rounds. Deterministic;
 * NaN for no values.
 */
export function upperMedian(values: readonly number[]): number {
  const random = createRandom(SEED);
  const medians = Float64Array.from({ length: RESAMPLES }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)]!)),
  );
  return quantile(medians.toSorted(), 0.975);
}
