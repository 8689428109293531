/**
 * Ratios that follow what happens lately: sums in which every earlier sample counts
 * a little less with each new one, in tables that forget the names not heard of for
 * the longest time.
 */
import { LRUCache } from 'lru-cache';

/** A ratio of sums; `samples` counts every sample there ever was. */
export interface Mean {
  readonly samples: number;
  /** Sums with decay: only their ratio means anything. */
  readonly over: number;
  readonly under: number;
}

/** What one more sample leaves of the earlier ones: the last 100 or so count. */
const KEPT = 0.99;

/** The mean with one sample more. */
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

  /** `over / under` of a name; undefined where nothing was learned. */
  ratio(name: string): number | undefined {
    const mean = this.#means.peek(name);
    return mean === undefined || mean.under <= 0 ? undefined : mean.over / mean.under;
  }

  /** How many samples a name ever had. */
  samples(name: string): number {
    return this.#means.peek(name)?.samples ?? 0;
  }

  clear(): void {
    this.#means.clear();
  }

  /** The names, longest unheard of first. */
  entries(): readonly (readonly [name: string, mean: Mean])[] {
    return [...this.#means.rentries()] as [string, Mean][];
  }
}
