/**
 * Time as a value that is passed in, so that a test can time a run without waiting and without
 * touching the process's own clock.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. Only for timestamps; it may jump. */
  wallMs(): number;
  /** Monotonic time in milliseconds, with a fraction. Only differences are meaningful. */
  monotonicMs(): number;
  /**
   * Calls `callback` once after `delayMs`; the returned function cancels it. The timer never keeps
   * the process alive.
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** The system clock. */
export const systemClock: Clock = Object.freeze({
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  /** Moves both clocks forward and fires, in order, every timer that is due. */
  advance(ms: number): void;
}

/**
 * Creates a clock for tests: starts at `startWallMs` (default 2026-01-01T00:00:00Z), monotonic at
 * zero.
 */
export function createManualClock(startWallMs = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsedMs = 0;
  let timers: { dueMs: number; callback: () => void }[] = [];
  return {
    wallMs: () => startWallMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    after(delayMs, callback) {
      const timer = { dueMs: elapsedMs + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const untilMs = elapsedMs + ms;
      for (;;) {
        const next = timers
          .filter((timer) => timer.dueMs <= untilMs)
          .toSorted((a, b) => a.dueMs - b.dueMs)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        next.callback();
      }
      elapsedMs = untilMs;
    },
  };
}
