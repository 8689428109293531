/**
 * Rate limits shared by several proxies: the same buckets as in `http/limit.ts`, stored in Redis
 * and updated in one step, by Redis's own clock.
 *
 * A bucket is stored as its deficit in milliseconds at its own rate, with the time of that deficit:
 * a number that stays small and so as exact as in memory. If proxies have different limits, what
 * was used counts as a number of requests, as after a reload.
 */
import type { Bucket, Deficits, SharedCounts } from '../http/limit.ts';
import { listOf, textOf } from './connection.ts';
import type { Reply, Script } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';

/**
 * KEYS: the source. ARGV, four per bucket: its name, capacity, interval in milliseconds, and the
 * least deficit that this proxy knows of. Returns the deficit of each bucket before the request.
 */
const TAKE: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = {}
local found = redis.call('HGETALL', KEYS[1])
for i = 1, #found, 2 do stored[found[i]] = tonumber(found[i + 1]) end
local passedMs = math.max(0, (now - (stored.at or now)) / 1000)
local answer, fields = {}, {}
local longestMs, isAllowed = 0, true
local function keep(name, owed, interval)
  stored[name] = nil
  longestMs = math.max(longestMs, owed)
  local written = {name, string.format('%.17g', owed), name .. '_interval', string.format('%.17g', interval)}
  for _, one in ipairs(written) do fields[#fields + 1] = one end
end
for i = 1, #ARGV, 4 do
  local name = ARGV[i]
  local capacity, interval, least = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local owed = math.max(0, (stored[name] or 0) - passedMs)
  local before = stored[name .. '_interval']
  if before and before ~= interval then owed = owed / before * interval end
  if owed > capacity * interval + 0.001 then owed = capacity * interval end
  owed = math.max(owed, least)
  answer[#answer + 1] = string.format('%.17g', owed)
  if owed + interval - capacity * interval - 0.0005 > 0 then isAllowed = false end
  keep(name, owed + interval, interval)
end
if not isAllowed then return answer end
for _, name in ipairs({'minute', 'second'}) do
  if stored[name] then keep(name, math.max(0, stored[name] - passedMs), stored[name .. '_interval']) end
end
redis.call('HSET', KEYS[1], 'at', string.format('%.17g', now), unpack(fields))
redis.call('PEXPIRE', KEYS[1], math.ceil(longestMs) + 1000)
return answer
`,
};

/** Creates the shared counts over a link; while the link is away they return undefined. */
export function createRateCounts(link: RedisLink): SharedCounts {
  return {
    get isUp() {
      return link.isUp;
    },
    async take(source, buckets, min) {
      const values = buckets.flatMap(({ name, capacity, intervalMs }, index) => [
        name,
        String(capacity),
        String(intervalMs),
        String(Math.max(0, min[index] ?? 0)),
      ]);
      const reply = await link.ask((redis) =>
        redis.run(TAKE, [sharedName('rate', source)], values),
      );
      return reply === undefined ? undefined : toDeficits(reply, buckets);
    },
  };
}

function toDeficits(answer: Reply, buckets: readonly Bucket[]): Deficits | undefined {
  const lacking = listOf(answer).map((text) => Number(textOf(text)));
  if (lacking.length !== buckets.length || !lacking.every(Number.isFinite)) return undefined;
  // Whatever Redis says, no one waits longer than a bucket takes to fill.
  return buckets.map(({ capacity, intervalMs }, index) =>
    Math.min(lacking[index]!, capacity * intervalMs + 1),
  );
}
