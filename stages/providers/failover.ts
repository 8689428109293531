/**
 * Whether another provider answers one provider's requests, for the log: one line when that begins
 * and one when it ends. A provider that fails every other request logs at most one such pair every
 * ten seconds.
 */
import type { Clock } from '../../engine/index.ts';

export type Failover = ReturnType<typeof createFailover>;

/** Minimum time between two logged beginnings. */
const LOG_EVERY_MS = 10_000;

/** `clock` is only used for monotonic time. */
export function createFailover(clock: Clock) {
  let isAway = false;
  let isLogged = false;
  let requests = 0;
  let loggedMs = -Infinity;
  return {
    /**
     * Reports that another provider has answered. Returns true if the beginning is to be logged.
     */
    away(): boolean {
      isAway = true;
      requests += 1;
      const nowMs = clock.monotonicMs();
      if (isLogged || nowMs - loggedMs < LOG_EVERY_MS) return false;
      isLogged = true;
      loggedMs = nowMs;
      return true;
    },
    /**
     * Reports that it has answered itself. Returns how many requests others have answered since the
     * last logged end if this is to be logged as the next one; otherwise undefined.
     */
    back(): number | undefined {
      if (!isAway) return undefined;
      isAway = false;
      if (!isLogged) return undefined;
      isLogged = false;
      const ended = requests;
      requests = 0;
      return ended;
    },
  };
}
