/**
 * Shared use of key and project limits, in Redis: one hash per account with each proxy's use. A
 * request is judged by the sum and added in one step, so that two proxies cannot both hand out the
 * remainder.
 *
 * A proxy adds to its own field. Its own figure replaces the field when its life changes: after a
 * start (past spending is in its ledger, reservations are gone) and after Redis was away (additions
 * in the meantime are missing there).
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import type { SharedAccount, SharedSpending, SharedUsage } from '../../stages/budget/shared.ts';
import type { Config } from '../config/config.ts';
import { listOf, textOf } from './connection.ts';
import type { Reply, Script } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';
import type { Shared } from './open-shared.ts';

/**
 * KEYS: one per account. ARGV: the proxy, its life, the amount; then three per account: the proxy's
 * own use, the limit (empty for none), and when the account may be forgotten, in milliseconds.
 * Returns the index of the limit that would be exceeded, or 0, and the use of each account before.
 * Amounts are whole nano-dollars, exact up to nine million dollars.
 */
const TAKE: Script = {
  lua: `
local me, life, amount = ARGV[1], ARGV[2], tonumber(ARGV[3])
local over, answer = 0, {0}
for i, key in ipairs(KEYS) do
  local own, limit, untilMs = ARGV[i * 3 + 1], ARGV[i * 3 + 2], ARGV[i * 3 + 3]
  if redis.call('HGET', key, 'life ' .. me) ~= life then
    redis.call('HSET', key, 'life ' .. me, life, 'used ' .. me, own)
    redis.call('PEXPIREAT', key, untilMs)
  end
  local used = 0
  local found = redis.call('HGETALL', key)
  for j = 1, #found, 2 do
    if string.sub(found[j], 1, 5) == 'used ' then used = used + tonumber(found[j + 1]) end
  end
  answer[i + 1] = string.format('%.0f', used)
  if over == 0 and limit ~= '' and used + amount > tonumber(limit) then over = i end
end
answer[1] = over
if over == 0 then
  for _, key in ipairs(KEYS) do
    local used = tonumber(redis.call('HGET', key, 'used ' .. me)) + amount
    redis.call('HSET', key, 'used ' .. me, string.format('%.0f', used))
  end
end
return answer
`,
};

/** Accounts are kept a while past their period, in case clocks differ. */
const SLACK_MS = 86_400_000;

/**
 * Creates the shared limits over a link; while it is away they return undefined. `proxy` identifies
 * this one.
 */
export function createSharedSpending(link: RedisLink, proxy: Proxy): SharedSpending {
  let lives = 0;
  return {
    async take(accounts, amount) {
      const keys = accounts.map(({ owner, name, period }) =>
        sharedName('budget', owner, name, period),
      );
      const values = [proxy.name, `${proxy.life}.${lives}`, String(amount)];
      for (const { ownUsed, limit, untilMs } of accounts)
        values.push(
          String(ownUsed),
          limit === null ? '' : String(limit),
          String(untilMs + SLACK_MS),
        );
      const reply = await link.ask((redis) => redis.run(TAKE, keys, values));
      const taken = reply === undefined ? undefined : toTaken(reply, accounts);
      // Without a response the amount may or may not have been added: this proxy's own figure
      // replaces it next time.
      if (taken === undefined) lives += 1;
      return taken;
    },
  };
}

function toTaken(answer: Reply, accounts: readonly SharedAccount[]): SharedUsage | undefined {
  const [over, ...rest] = listOf(answer);
  const used = rest.map((text) => Number(textOf(text)));
  if (typeof over !== 'number' || used.length !== accounts.length) return undefined;
  if (!used.every(Number.isFinite)) return undefined;
  return { used, over: over === 0 ? undefined : over - 1 };
}

/** Identity of a proxy among those that share. */
export interface Proxy {
  /** Stable across restarts if its ledger records what it had spent. */
  readonly name: string;
  /** New after every start. */
  readonly life: string;
}

/**
 * Returns the machine's name, or that of its ledger file. Without either, earlier spending counts
 * as another proxy's.
 */
export function proxyIdentity(
  { ledger }: Pick<Config, 'ledger'>,
  node: string | null,
  { proxyId }: Pick<Shared, 'proxyId'>,
): Proxy {
  if (node !== null) return { name: `node ${node}`, life: proxyId };
  if (isPostgresUrl(ledger.db)) return { name: proxyId, life: proxyId };
  const file = createHash('sha256').update(`${hostname()}\0${ledger.db}`).digest('base64url');
  return { name: `file ${file}`, life: proxyId };
}
