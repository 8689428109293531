/** Releases the reservation of work that is billed now: its bill replaces it. */
import type { Held } from './deferred-bills.ts';
import type { SpendingGuard } from './guard.ts';
import { DAY_MS } from './owners.ts';
import type { Spender } from './owners.ts';

const NO_LIMIT = { perDayNanoUsd: null, perMonthNanoUsd: null };

/**
 * Subtracts `held` from the spending, unless it is from a day before `nowMs`: it then stays with
 * its day. `spender` is the current requester: limits shared with other proxies are only known
 * through their key. Returns the nano-dollars released.
 */
export function giveBack(
  held: Held | undefined,
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
