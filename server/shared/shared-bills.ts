/**
 * Records in Redis which provider work is already billed: a background response or a batch may be
 * started by one proxy, fetched by another, and again by a third. A record says only that the work
 * is billed.
 *
 * Two proxies that fetch the same work for the first time at the same moment may both bill it: each
 * checks when its request begins, and knows the bill when its response ends.
 */
import type {
  BillingPeers,
  DeferredBills,
  JobReservation,
} from '../../stages/budget/deferred-bills.ts';
import { listOf } from './connection.ts';
import type { Script } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';

/** Providers keep responses and batch results for thirty days. */
const KEPT_MS = 31 * 86_400_000;

/** KEYS: jobs. ARGV: how long the record is kept, in milliseconds. */
const WRITE: Script = {
  lua: `
for _, key in ipairs(KEYS) do redis.call('SET', key, '1', 'PX', ARGV[1]) end
return 1
`,
};

/** KEYS: jobs. Returns 1 for each that is billed, otherwise 0. */
const READ: Script = {
  lua: `
local answer = {}
for i, key in ipairs(KEYS) do answer[i] = redis.call('EXISTS', key) end
return answer
`,
};

/**
 * Starts sharing bills with the proxies on the same link; `onBilled` receives this proxy's
 * reservations for work that another has billed.
 */
export function shareBills(
  bills: DeferredBills,
  link: RedisLink,
  onBilled: (held: JobReservation) => void,
): void {
  const namesOf = (ids: readonly string[]): string[] => ids.map((id) => sharedName('bill', id));
  const peers: BillingPeers = {
    billed(ids) {
      void link.ask((redis) => redis.run(WRITE, namesOf(ids), [String(KEPT_MS)]));
    },
    async billedOf(ids) {
      const reply = listOf(await link.ask((redis) => redis.run(READ, namesOf(ids), [])));
      return ids.filter((_, index) => reply[index] === 1);
    },
  };
  bills.share(peers, onBilled);
  link.everyTick(() => void bills.lookUpHeld());
}
