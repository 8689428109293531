/** Limits of time and memory that svc keeps on a quiet machine. No test fails by one: machines differ. */
import type { Verdict } from '../bars.ts';

/** Limits that are measured together. `measure` throws where what it measures does not work at all. */
export interface LimitGroup {
  readonly name: string;
  readonly measure: () => Promise<readonly Measured[]>;
}

/** One limit and the value found; without what it needs on this machine there is none. */
export interface Measured {
  readonly what: string;
  readonly unit: Verdict['unit'];
  readonly most: number;
  readonly value: number;
}

/** The least of what `measure` gives in `tries` tries. */
export async function least(tries: number, measure: () => Promise<number>): Promise<number> {
  let value = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries; n += 1) value = Math.min(value, await measure());
  return value;
}
