/** How often the figures of a range are asked for anew, however large the ledger is. */

/** The part of the time that answering may take: a machine that proxies has little to spare. */
const SHARE = 1 / 500;
const LEAST_MS = 5000;
const MOST_MS = 60_000;

/** The range moves on, also while nothing happens. */
export const IDLE_MS = 60_000;

/** How long to wait after an answer that took `tookMs`. */
export function pauseAfter(tookMs: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, tookMs / SHARE));
}
