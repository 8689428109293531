/**
 * Moving ratios: sums in which each new sample makes all earlier ones count a little less, in
 * tables that evict the names not updated for the longest time.
 */
import { LRUCache } from 'lru-cache';

/** A ratio of sums; `samples` counts every sample ever added. */
export interface Mean {
  readonly samples: number;
  /** Decaying sums: only their ratio is meaningful. */
  readonly over: number;
  readonly under: number;
}

/** Decay per sample: about the last 100 samples count. */
const KEPT = 0.99;

/** Returns the mean with one more sample. */
function withSample(mean: Mean | undefined, over: number, under: number): Mean {
  return {
    samples: (mean?.samples ?? 0) + 1,
    over: (mean?.over ?? 0) * KEPT + over,
    under: (mean?.under ?? 0) * KEPT + under,
  };
}

/** Means by name, at most `maxNames` of them: names come from clients. */
export class MeanTable {
  readonly #means: LRUCache<string, Mean>;

  constructor(maxNames: number, entries: Iterable<readonly [string, Mean]> = []) {
    this.#means = new LRUCache({ max: maxNames });
    for (const [name, mean] of entries) this.#means.set(name, mean);
  }

  add(name: string, over: number, under: number): void {
    this.#means.set(name, withSample(this.#means.peek(name), over, under));
  }

  /** Returns `over / under` for a name; undefined if nothing was learned. */
  ratio(name: string): number | undefined {
    const mean = this.#means.peek(name);
    return mean === undefined || mean.under <= 0 ? undefined : mean.over / mean.under;
  }

  /** Returns the number of samples a name ever had. */
  samples(name: string): number {
    return this.#means.peek(name)?.samples ?? 0;
  }

  clear(): void {
    this.#means.clear();
  }

  /** Returns the entries, least recently updated first. */
  entries(): readonly (readonly [name: string, mean: Mean])[] {
    return [...this.#means.rentries()] as [string, Mean][];
  }
}
