/**
 * Ratios that follow what happens lately: sums in which every earlier sample counts
 * a little less with each new one, in tables that forget the names not heard of for
 * the longest time.
 */

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
  readonly #maxNames: number;
  readonly #means = new Map<string, Mean>();

  constructor(maxNames: number, entries: Iterable<readonly [string, Mean]> = []) {
    this.#maxNames = maxNames;
    for (const [name, mean] of entries) this.#put(name, mean);
  }

  add(name: string, over: number, under: number): void {
    this.#put(name, withSample(this.#means.get(name), over, under));
  }

  /** `over / under` of a name; undefined where nothing was learned. */
  ratio(name: string): number | undefined {
    const mean = this.#means.get(name);
    return mean === undefined || mean.under <= 0 ? undefined : mean.over / mean.under;
  }

  /** How many samples a name ever had. */
  samples(name: string): number {
    return this.#means.get(name)?.samples ?? 0;
  }

  clear(): void {
    this.#means.clear();
  }

  /** The names, longest unheard of first. */
  entries(): readonly (readonly [name: string, mean: Mean])[] {
    return [...this.#means];
  }

  #put(name: string, mean: Mean): void {
    this.#means.delete(name);
    this.#means.set(name, mean);
    if (this.#means.size > this.#maxNames) this.#means.delete(this.#means.keys().next().value!);
  }
}
