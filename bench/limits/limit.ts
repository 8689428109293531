/**
 * Time and memory limits for svc on a quiet machine. No test depends on them, since machines
 * differ.
 */
import type { Verdict } from '../bars.ts';

/** Limits measured together. `measure` throws if the measured feature does not work at all. */
export interface LimitGroup {
  readonly name: string;
  readonly measure: () => Promise<readonly Measured[]>;
}

/** One limit and the measured value; none if this machine lacks a requirement. */
export interface Measured {
  readonly what: string;
  readonly unit: Verdict['unit'];
  readonly max: number;
  readonly value: number;
}

/** Returns the smallest result of `measure` in `tries` tries. */
export async function minOf(tries: number, measure: () => Promise<number>): Promise<number> {
  let value = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries; n += 1) value = Math.min(value, await measure());
  return value;
}
