/**
 * Time and memory limits for svc on a quiet machine. No test depends on them, since machines
 * differ.
 */
import type { Verdict } from '../bars.ts';

/** Limits measured together. `measure` throws if the measured feature does not work at all. */
export interface LimitGroup {
  readonly name: string;
  /** Resolves with no values on a machine that lacks a requirement, such as a program. */
  readonly measure: () => Promise<readonly Measured[]>;
}

/** One limit and the measured value. */
export interface Measured {
  readonly what: string;
  readonly unit: Verdict['unit'];
  readonly max: number;
  readonly value: number;
}

/** Returns the smallest result of `measure` of `attempts` attempts. */
export async function minOf(attempts: number, measure: () => Promise<number>): Promise<number> {
  let value = Number.POSITIVE_INFINITY;
  for (let n = 0; n < attempts; n += 1) value = Math.min(value, await measure());
  return value;
}
