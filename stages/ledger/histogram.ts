/**
 * Counts of durations by size, for Prometheus. Recording walks over a few numbers: the usual
 * library takes 140 ms to load and 1 µs for each value, for every request.
 */

/** Upper bounds in seconds, from a millisecond to ten minutes. */
export const DURATION_BUCKETS_S: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];
/** Upper bounds in seconds for the work of a stage, from 10 µs to a second. */
export const STAGE_BUCKETS_S: readonly number[] = [
  0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 1,
];

/** A histogram ready for output: `counts[i]` values were at most `bounds[i]`, cumulative. */
export interface HistogramView {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length);
  }

  /** Adds a value in the unit of the bounds. */
  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
    for (let index = 0; index < this.#bounds.length; index += 1) {
      if (value > this.#bounds[index]!) continue;
      this.#counts[index]! += 1;
      return;
    }
  }

  view(): HistogramView {
    let total = 0;
    const counts = Array.from(this.#counts, (count) => (total += count));
    return { bounds: this.#bounds, counts, sum: this.#sum, count: this.#count };
  }
}

/** Common name for all those past the limit; a client can invent any number of models. */
const OTHER = '(other)';

/** Histograms by name, at most `maxNames` of them. */
export class HistogramsByName {
  readonly #byName = new Map<string, Histogram>();
  readonly #bounds: readonly number[];
  readonly #maxNames: number;

  constructor(bounds: readonly number[], maxNames: number) {
    this.#bounds = bounds;
    this.#maxNames = maxNames;
  }

  add(name: string, value: number): void {
    let histogram = this.#byName.get(name);
    if (histogram === undefined) {
      const key = this.#byName.size < this.#maxNames ? name : OTHER;
      histogram = this.#byName.get(key) ?? new Histogram(this.#bounds);
      this.#byName.set(key, histogram);
    }
    histogram.add(value);
  }

  views(): readonly (readonly [name: string, view: HistogramView])[] {
    return [...this.#byName].map(([name, histogram]) => [name, histogram.view()] as const);
  }
}
