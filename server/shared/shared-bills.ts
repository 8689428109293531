/**
 * Which work of providers somebody has billed, in Redis: a background response or a batch may be begun by
 * one proxy and fetched by another, and again by a third. A record says no more than that it is billed.
 *
 * Two that fetch a work for the first time within the same moment may both bill it: each asks when its
 * request begins, and knows when its answer ends.
 */
import type { BillingPeers, DeferredBills, Held } from '../../stages/budget/deferred-bills.ts';
import { listOf } from './connection.ts';
import type { Script } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';

/** Providers keep responses and results of batches for thirty days. */
const KEPT_MS = 31 * 86_400_000;

/** KEYS: works. ARGV: for how long it is known, in milliseconds. */
const WRITE: Script = {
  lua: `
for _, key in ipairs(KEYS) do redis.call('SET', key, '1', 'PX', ARGV[1]) end
return 1
`,
};

/** KEYS: works. Answers with 1 for each that is billed, else with 0. */
const READ: Script = {
  lua: `
local answer = {}
for i, key in ipairs(KEYS) do answer[i] = redis.call('EXISTS', key) end
return answer
`,
};

/** Bills with those on the same link, from now on; `onBilled` gets what this proxy held of what another billed. */
export function shareBills(
  bills: DeferredBills,
  link: RedisLink,
  onBilled: (held: Held) => void,
): void {
  const namesOf = (ids: readonly string[]): string[] => ids.map((id) => sharedName('bill', id));
  const peers: BillingPeers = {
    billed(ids) {
      void link.ask((redis) => redis.run(WRITE, namesOf(ids), [String(KEPT_MS)]));
    },
    async billedOf(ids) {
      const answer = listOf(await link.ask((redis) => redis.run(READ, namesOf(ids), [])));
      return ids.filter((_, index) => answer[index] === 1);
    },
  };
  bills.share(peers, onBilled);
  link.everyTick(() => void bills.lookUpHeld());
}
