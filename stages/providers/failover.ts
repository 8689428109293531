/**
 * Whether the requests of one provider are answered by another, for the log: one line when that
 * begins and one when it ends. A provider that fails every other request writes no more of them
 * than a pair every ten seconds.
 */
import type { Clock } from '../../engine/index.ts';

export type Failover = ReturnType<typeof createFailover>;

/** Shortest time between two beginnings that are logged. */
const LOG_EVERY_MS = 10_000;

/** `clock` is only asked for monotonic time. */
export function createFailover(clock: Clock) {
  let isAway = false;
  let isLogged = false;
  let requests = 0;
  let loggedMs = -Infinity;
  return {
    /** Reports that another provider has answered. True where that is to be logged as the beginning. */
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
     * Reports that it has answered itself. How many requests others have answered since the last
     * logged end, where this is to be logged as the next one; undefined where not.
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
