/** Requests, cost and input over time and by the names of one column, for stacked charts. */
import type { LedgerReader } from './tables.ts';
import { addTotals } from './figures.ts';
import type { Totals } from './figures.ts';
import { sumsBy } from './sums.ts';
import type { GroupSums, RowFilter } from './sums.ts';

/** The columns that a chart can be stacked by. */
export type StackKey = 'model' | 'project' | 'keyLabel' | 'client';

/**
 * Names with their own stack: the most expensive, or those with most requests if nothing has a
 * price.
 */
const MAX_NAMES = 5;

/** One name; null for requests without one, `isRest` for all past the limit together. */
export interface Stack {
  readonly name: string | null;
  readonly isRest: boolean;
  readonly totals: Totals;
  /** By the number of the step since the epoch; those without requests are left out. */
  readonly steps: ReadonlyMap<number, Totals>;
}

/** Returns the stacks of the requests that match `filter`, in steps of `bucketMs`. */
export async function stackedSeries(
  db: LedgerReader,
  filter: RowFilter,
  key: StackKey,
  bucketMs: number,
): Promise<readonly Stack[]> {
  const sums = await sumsBy(db, [key], filter, bucketMs);
  const named = [...grouped(sums, ({ keys: [name = null] }) => name)]
    .map(([name, own]) => toStack(name, own))
    .toSorted(
      ({ totals: a }, { totals: b }) => b.costNanoUsd - a.costNanoUsd || b.requests - a.requests,
    );
  const first = named.slice(0, MAX_NAMES);
  if (first.length === named.length) return first;
  const listed = new Set(first.map(({ name }) => name));
  const rest = sums.filter(({ keys: [name = null] }) => !listed.has(name));
  return [...first, { ...toStack(null, rest), isRest: true }];
}

function toStack(name: string | null, sums: readonly GroupSums[]): Stack {
  const steps = [...grouped(sums, ({ step }) => step)].map(
    ([step, parts]) => [step, addTotals(parts.map(({ totals }) => totals))] as const,
  );
  return {
    name,
    isRest: false,
    totals: addTotals(sums.map(({ totals }) => totals)),
    steps: new Map(steps),
  };
}

function grouped<K>(
  sums: readonly GroupSums[],
  keyOf: (one: GroupSums) => K,
): ReadonlyMap<K, readonly GroupSums[]> {
  const groups = new Map<K, GroupSums[]>();
  for (const one of sums) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
