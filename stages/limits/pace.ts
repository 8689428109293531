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
 * No window is longer: a later reset is a mistake of its source, or in another unit than
 * documented.
 */
const LONGEST_MS = 400 * 86_400_000;

/** Returns a time; undefined if no window can begin or end then. */
export function plausibleTime(atMs: number | undefined, nowMs: number): number | undefined {
  return atMs !== undefined && Math.abs(atMs - nowMs) <= LONGEST_MS ? atMs : undefined;
}

/** Returns a length in minutes; undefined if no window has it. */
export function plausibleMinutes(minutes: number | undefined): number | undefined {
  return minutes !== undefined && minutes > 0 && minutes * 60_000 <= LONGEST_MS
    ? minutes
    : undefined;
}

/**
 * The recent part of a window whose pace is extrapolated, in time without pauses: two hours of
 * five, nearly three days of a week.
 */
const RECENT_PART = 2 / 5;
/**
 * How much of a gap between two samples counts: 20 minutes of five hours, so that a lunch break
 * does not slow the pace; 11 hours of a week, whose nights do belong to its pace.
 */
const MAX_IDLE_PART = 1 / 15;
/** A gap in which more was used is not a pause: another machine used the plan, or svc was off. */
const IDLE_USE = 0.05;

/**
 * Returns the share of the window that is used per millisecond, over its recent part; since then
 * nothing more is known to be used. `samples` are of this window, oldest first.
 */
export function paceOf(
  samples: readonly Sample[],
  { minutes, resetsAtMs }: Span,
  nowMs: number,
): number {
  const newest = samples.at(-1);
  if (newest === undefined) return 0;
  const lengthMs = minutes * 60_000;
  const gapMs = (from: Sample, to: Sample): number => {
    const ms = Math.max(0, to.atMs - from.atMs);
    return to.used - from.used < IDLE_USE ? Math.min(ms, lengthMs * MAX_IDLE_PART) : ms;
  };
  let since = newest;
  let activeMs = gapMs(newest, { atMs: nowMs, used: newest.used });
  for (const earlier of [{ atMs: resetsAtMs - lengthMs, used: 0 }, ...samples].toReversed()) {
    // A provider that lowers its figure has begun to count differently.
    if (activeMs >= lengthMs * RECENT_PART || earlier.used > since.used) break;
    activeMs += gapMs(earlier, since);
    since = earlier;
  }
  return activeMs <= 0 ? 0 : Math.max(0, newest.used - since.used) / activeMs;
}

/**
 * Returns when a window is used up if its use goes on at `pace` from now, the time of `now`, in
 * milliseconds since the epoch; undefined if it resets before.
 */
export function usedUpAtMs(now: Sample, pace: number, resetsAtMs: number): number | undefined {
  if (now.used >= 1) return now.atMs;
  if (pace <= 0) return undefined;
  const atMs = now.atMs + (1 - now.used) / pace;
  return atMs < resetsAtMs ? atMs : undefined;
}
