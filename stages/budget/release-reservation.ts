/** Releases the reservation of a job when it is billed: the bill replaces it. */
import type { JobReservation } from './deferred-bills.ts';
import type { SpendingGuard } from './guard.ts';
import { DAY_MS } from './owners.ts';
import type { Spender } from './owners.ts';

const NO_LIMIT = { perDayNanoUsd: null, perMonthNanoUsd: null };

/**
 * Subtracts `held` from the reserved amounts, unless it is from a day before `nowMs`, which keeps
 * it. `spender` is the current requester: limits shared with other proxies are known only through
 * its key. Returns the nano-dollars released.
 */
export function releaseReservation(
  held: JobReservation | undefined,
  guard: SpendingGuard,
  nowMs: number,
  spender: Spender = {},
): number {
  if (held === undefined || Math.floor(held.atMs / DAY_MS) !== Math.floor(nowMs / DAY_MS)) return 0;
  const { key: label, project } = held;
  const own = spender.key?.label === label ? spender.key : undefined;
  const key = own ?? (label === undefined ? undefined : { label, ...NO_LIMIT });
  guard.count(-held.nanoUsd, -held.tokens, { project, ...(key && { key }) });
  return held.nanoUsd;
}
