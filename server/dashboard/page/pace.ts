/** How often the figures of a range are fetched again, however large the ledger is. */

/** Share of time the proxy may spend on answering: it has other work to do. */
const SHARE = 1 / 500;
const MIN_MS = 5000;
const MAX_MS = 60_000;

/** Interval without new requests: the range moves on even while nothing happens. */
export const IDLE_MS = 60_000;

/** Returns the milliseconds to wait after a response that took `tookMs`. */
export function pauseAfter(tookMs: number): number {
  return Math.min(MAX_MS, Math.max(MIN_MS, tookMs / SHARE));
}
