/**
 * What several proxies use of the limits of keys and projects, in Redis: for each account one hash
 * with what each proxy uses of it. A request is judged by the sum and added in one step, so that
 * two proxies cannot both give away the last of it.
 *
 * A proxy adds to its own field. What it knows itself replaces the field where a new life of it
 * begins: after a start (what it had spent is in its ledger, what it held is over) and after Redis
 * was away (what was added meanwhile is not there).
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import type { SharedAccount, SharedSpending, Taken } from '../../stages/budget/shared.ts';
import type { Config } from '../config/config.ts';
import { listOf, textOf } from './connection.ts';
import type { Reply, Script } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';
import type { Shared } from './open-shared.ts';

/**
 * KEYS: one for each account. ARGV: the proxy, its life, the amount; then three for each account:
 * what the proxy itself uses, the limit (empty for none), when the account may be forgotten in
 * milliseconds. Answers with the place of the limit that would be passed, or 0, and with what all
 * used of each account before. Amounts are whole nano-dollars, exact up to nine million dollars.
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

/** Accounts are kept a while past their period, in which clocks may differ. */
const SLACK_MS = 86_400_000;

/** Limits over a link; while it is away nobody answers. `proxy` names this one among all that share. */
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
      const answer = await link.ask((redis) => redis.run(TAKE, keys, values));
      const taken = answer === undefined ? undefined : toTaken(answer, accounts);
      // It may have been added all the same, or not: what this proxy knows replaces it at the next.
      if (taken === undefined) lives += 1;
      return taken;
    },
  };
}

function toTaken(answer: Reply, accounts: readonly SharedAccount[]): Taken | undefined {
  const [over, ...rest] = listOf(answer);
  const used = rest.map((text) => Number(textOf(text)));
  if (typeof over !== 'number' || used.length !== accounts.length) return undefined;
  if (!used.every(Number.isFinite)) return undefined;
  return { used, over: over === 0 ? undefined : over - 1 };
}

/** A proxy among those that share. */
export interface Proxy {
  /** The same after a restart, where its ledger says what it had spent. */
  readonly name: string;
  /** Another one after every start. */
  readonly life: string;
}

/** The name of the machine, else that of its ledger's file. Without either what it spent before counts as another's. */
export function proxyWord(
  { ledger }: Pick<Config, 'ledger'>,
  node: string | null,
  { ownWord }: Pick<Shared, 'ownWord'>,
): Proxy {
  if (node !== null) return { name: `node ${node}`, life: ownWord };
  if (isPostgresUrl(ledger.db)) return { name: ownWord, life: ownWord };
  const file = createHash('sha256').update(`${hostname()}\0${ledger.db}`).digest('base64url');
  return { name: `file ${file}`, life: ownWord };
}
