/** How fast a window is used, and when it will be used up at that pace. */

/** The usage at a point in time. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** The share of the window, 0 to 1. */
  readonly used: number;
}

/** A window of a plan: its length, and when it resets. */
export interface Span {
  readonly minutes: number;
  readonly resetsAtMs: number;
}

/**
 * The recent part of a window whose pace is extrapolated: an hour of five hours, a day and a half
 * of a week, which includes a night.
 */
const RECENT_PART = 1 / 5;

/**
 * Returns the share of the window that is used per millisecond: over its last fifth, or over all of
 * it so far if fewer samples are known. `samples` are of this window, oldest first, the newest is
 * now.
 */
export function paceOf(samples: readonly Sample[], { minutes, resetsAtMs }: Span): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  const lengthMs = minutes * 60_000;
  const startMs = resetsAtMs - lengthMs;
  const fromMs = Math.max(startMs, newest.atMs - lengthMs * RECENT_PART);
  const since = samples.findLast(({ atMs }) => atMs <= fromMs) ?? { atMs: startMs, used: 0 };
  const ranMs = newest.atMs - since.atMs;
  return ranMs <= 0 ? 0 : Math.max(0, newest.used - since.used) / ranMs;
}

/**
 * Returns when a window is used up at `pace`, in milliseconds since the epoch; undefined if it
 * resets before.
 */
export function usedUpAtMs(newest: Sample, pace: number, resetsAtMs: number): number | undefined {
  if (newest.used >= 1) return newest.atMs;
  if (pace <= 0) return undefined;
  const atMs = newest.atMs + (1 - newest.used) / pace;
  return atMs < resetsAtMs ? atMs : undefined;
}
