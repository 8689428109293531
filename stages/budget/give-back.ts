/** What limits held of work that is billed now comes back: its bill counts in its place. */
import type { Held } from './deferred-bills.ts';
import type { SpendingGuard } from './guard.ts';
import type { Spender } from './owners.ts';

const DAY_MS = 86_400_000;
const NO_LIMIT = { perDayNanoUsd: null, perMonthNanoUsd: null };

/**
 * Takes `held` from what is counted as spent, unless that was on a day before `nowMs`: it stays with its day.
 * `spender` is who asks now: limits that are held with other proxies are known of their key alone. Returns
 * the nano-dollars that came back.
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
