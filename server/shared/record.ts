/**
 * The records through which proxies share provider states, and the scripts that change them:
 * `<what> <until> <version>`, with the time in milliseconds of Redis's clock. Proxies receive the
 * remaining time, so that their own clocks do not matter.
 */
import { textOf } from './connection.ts';
import type { Reply, Script } from './connection.ts';

/** Contents of a record. */
export interface SharedRecord {
  readonly what: string;
  /** Remaining time in milliseconds; negative once it has expired. */
  readonly forMs: number;
  /** New with every change. */
  readonly version: string;
}

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** A record outlives its state: a proxy that was away or asleep must still learn of it. */
const KEPT_MS = 60_000;

/**
 * Writes a record. KEYS: record, probe. ARGV: what, for how long, version. A rest never shortens
 * another one; a breaker that changes state has no probe out any more.
 */
export const WRITE: Script = {
  lua: `${NOW}
local what, untilMs = ARGV[1], now + tonumber(ARGV[2])
local before = redis.call('GET', KEYS[1])
if before and (what == 'limited' or what == 'refused') then
  local was, last = string.match(before, '^(%a+) (%d+)')
  if (was == 'limited' or was == 'refused') and tonumber(last) > untilMs then untilMs = tonumber(last) end
end
redis.call('SET', KEYS[1], string.format('%s %.0f %s', what, untilMs, ARGV[3]), 'PX', string.format('%.0f', untilMs - now + ${KEPT_MS}))
redis.call('DEL', KEYS[2])
return 1
`,
};

/** Reads records. KEYS: the records. Returns Redis's time and each record. */
export const READ: Script = {
  lua: `${NOW}
local answer = redis.call('MGET', unpack(KEYS))
table.insert(answer, 1, string.format('%.0f', now))
return answer
`,
};

/**
 * Claims the probe of a breaker. KEYS: record, probe. ARGV: the version of the newest record that
 * the caller knows, the id of its claim, for how long. Returns `ours`, `held`, or `news` with
 * Redis's time and a record that the caller has not seen.
 */
export const CLAIM: Script = {
  lua: `${NOW}
local record = redis.call('GET', KEYS[1])
if record and string.match(record, '%S+$') ~= ARGV[1] then return {'news', string.format('%.0f', now), record} end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then return {'ours'} end
return {'held'}
`,
};

/** Releases a probe. KEYS: probe. ARGV: the id of the claim. */
export const FREE: Script = {
  lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`,
};

/** Parses a record; undefined if there is none, or it is not one of ours. */
export function toRecord(
  text: Reply | undefined,
  now: Reply | undefined,
): SharedRecord | undefined {
  const found = /^([a-z]+) (\d+) (\S+)$/.exec(textOf(text) ?? '');
  const nowMs = Number(textOf(now));
  if (found === null || !Number.isFinite(nowMs)) return undefined;
  const [, what = '', untilMs, version = ''] = found;
  return { what, forMs: Number(untilMs) - nowMs, version };
}
