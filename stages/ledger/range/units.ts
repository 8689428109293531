/**
 * How a span of time is divided: into units that a report keeps from one time to the next, as large
 * as possible, and what is left at the ends.
 */
import { HOUR_MS } from '../hours.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** From `fromMs` (inclusive) to `toMs` (exclusive), milliseconds since the epoch. */
export interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Consecutive units of one length; both ends are multiples of it. */
export interface Units extends Piece {
  readonly lengthMs: number;
}

/** A length of units. */
export interface Length {
  readonly lengthMs: number;
  /** No unit ends later. */
  readonly endMs: number;
}

export interface Division {
  readonly units: readonly Units[];
  /** Parts of a unit of the smallest length. */
  readonly ends: readonly Piece[];
}

/** Divides a span into units of `lengths`, longest first. */
export function divide({ fromMs, toMs }: Piece, lengths: readonly Length[]): Division {
  if (fromMs >= toMs) return { units: [], ends: [] };
  const [length, ...shorter] = lengths;
  if (length === undefined) return { units: [], ends: [{ fromMs, toMs }] };
  const { lengthMs, endMs } = length;
  const firstMs = Math.ceil(fromMs / lengthMs) * lengthMs;
  const lastMs = Math.floor(Math.min(toMs, endMs) / lengthMs) * lengthMs;
  if (firstMs >= lastMs) return divide({ fromMs, toMs }, shorter);
  const before = divide({ fromMs, toMs: firstMs }, shorter);
  const after = divide({ fromMs: lastMs, toMs }, shorter);
  return {
    units: [...before.units, { fromMs: firstMs, toMs: lastMs, lengthMs }, ...after.units],
    ends: [...before.ends, ...after.ends],
  };
}

/**
 * Returns the lengths of units that never cross a step of `stepMs`. Long units are not used before
 * `settledMs`: a request is stored when it ends, and belongs where it began.
 */
export function lengthsWithin(stepMs: number, settledMs: number): readonly Length[] {
  const settled = (lengthMs: number): Length => ({ lengthMs, endMs: settledMs });
  const minutes = { lengthMs: MINUTE_MS, endMs: Infinity };
  if (stepMs % DAY_MS === 0) return [settled(DAY_MS), settled(HOUR_MS), minutes];
  if (stepMs % HOUR_MS === 0) return [settled(HOUR_MS), minutes];
  if (stepMs % MINUTE_MS !== 0 || stepMs === MINUTE_MS)
    return [{ lengthMs: stepMs, endMs: Infinity }];
  return [settled(stepMs), minutes];
}
