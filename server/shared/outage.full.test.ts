/** Redis fails in every way it can: no client notices, and sharing resumes once Redis is back. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { startRedis, until, withPair } from '../../fixtures/server/redis.ts';

/** A bucket that practically does not refill while a test runs. */
const LIMITED =
  'rate_limit: { requests_per_second: 0.001, burst_size: 500 }\ncache: { enabled: true }';

/**
 * Commands that may be pending when Redis stops responding: those of one request, and those of a
 * tick.
 */
const MAX_UNANSWERED = 5;

/**
 * Sends requests one after the other; all must succeed. Once Redis has stopped responding it must
 * not be asked again: waiting is counted as unanswered commands, since those are what a request
 * waits for. A request that waited without a limit would never be answered.
 */
async function sendMany(t: TestProxy, count: number, gapMs = 0): Promise<void> {
  const { unanswered } = stateOf(t);
  for (let i = 0; i < count; i += 1) {
    const body = json(MESSAGE, { temperature: 0, top_k: seed++ });
    assert.is((await exchange(t.proxy.port, { body })).status, 200);
    if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
  const more = stateOf(t).unanswered - unanswered;
  assert.ok(more <= MAX_UNANSWERED, `${more} questions to Redis without an answer`);
}
let seed = 1;

const stateOf = (t: TestProxy) => t.proxy.services.shared!.link.view();
const isUp = (t: TestProxy): boolean => stateOf(t).state === 'up';

async function logOf(t: TestProxy): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return readFileSync(join(dirname(t.db), 'logs', 'svc.log'), 'utf8');
}
const count = (text: string, words: string): number => text.split(words).length - 1;

test('killing Redis fails or delays no request, and afterwards the limits are shared again', () =>
  withPair({ yaml: LIMITED }, async (one, other, redis) => {
    await sendMany(one, 5);
    const running = sendMany(one, 60, 5);
    await redis.kill();
    await running;
    assert.not.ok(isUp(one));
    await redis.restart();
    await until('both are back', () => isUp(one) && isUp(other));
    // Requests admitted before and during the outage still count, although Redis has lost them.
    const { headers } = await exchange(one.proxy.port, { body: json(MESSAGE) });
    assert.is(headers['x-ratelimit-limit'], undefined);
    const left = one.proxy.services.limiter.take('127.0.0.1')!.remaining;
    assert.ok(left <= 500 - 67, String(left));
    const log = await logOf(one);
    assert.equal([count(log, 'Redis is unreachable'), count(log, 'Redis is back')], [1, 1], log);
  }));

test('if Redis hangs, one request waits for fifty milliseconds and the others not at all', () =>
  withPair({ yaml: LIMITED }, async (one, other, redis) => {
    await sendMany(one, 20);
    redis.freeze();
    await Promise.all([sendMany(one, 60, 5), sendMany(other, 60, 5)]);
    assert.ok(stateOf(one).unanswered <= 3, JSON.stringify(stateOf(one)));
    await until('it is said', async () => count(await logOf(one), 'Redis is unreachable') === 1);
    // Long enough for the link to give up the connection, which is not visible from outside.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    const { asked } = stateOf(one);
    await sendMany(one, 10);
    assert.is(stateOf(one).asked, asked, 'no command is sent to it while it is unreachable');
    redis.thaw();
    await until('both are back', () => isUp(one) && isUp(other));
    // No second warning follows.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const log = await logOf(one);
    assert.equal([count(log, 'Redis is unreachable'), count(log, 'Redis is back')], [1, 1], log);
  }));

test('a pause of Redis shorter than a second is not logged', () =>
  withPair({ yaml: LIMITED }, async (one, _other, redis) => {
    await sendMany(one, 5);
    redis.freeze();
    await sendMany(one, 2);
    assert.not.ok(isUp(one));
    redis.thaw();
    await until('it is back', () => isUp(one));
    assert.is(count(await logOf(one), 'Redis is'), 0);
  }));

test('changes during an outage of Redis are shared when it is back', () =>
  withPair({}, async (one, other, redis) => {
    await redis.kill();
    await until('both know', () => !isUp(one) && !isUp(other));
    const stop = other.upstream.script(undefined, '500');
    for (let i = 0; i < 5; i += 1) await exchange(one.proxy.port, { body: json(MESSAGE) });
    stop();
    const breaker = (t: TestProxy) => t.proxy.services.states.get('messages')!.breaker.view().state;
    assert.equal([breaker(one), breaker(other)], ['open', 'closed']);
    await redis.restart();
    await until('open in both', () => breaker(other) === 'open');
  }));

test('an unreachable Redis is a warning at the start, and is used once it is reachable', async () => {
  const redis = await startRedis();
  await redis.kill();
  const t = await startTestProxy({ yaml: LIMITED, env: { SVC_REDIS_URL: redis.url } });
  try {
    await sendMany(t, 5);
    assert.equal(stateOf(t).reason, 'connection refused');
    await redis.restart();
    await until('it is used', () => isUp(t));
    const log = await logOf(t);
    assert.equal([count(log, 'Redis is unreachable'), count(log, 'Redis is back')], [1, 1], log);
  } finally {
    await t.close();
    await redis.stop();
  }
});

for (const [what, options, user, reason] of [
  [
    'a wrong password',
    ['--requirepass', 'right-one'],
    ':wr0ng-one@',
    'it refuses the user or the password of shared.redis_url',
  ],
  [
    'a missing password',
    ['--requirepass', 'right-one'],
    '',
    'it requires a password, and shared.redis_url has none',
  ],
  [
    'an unknown user',
    ['--requirepass', 'right-one'],
    'nobody:wr0ng-one@',
    'it refuses the user or the password of shared.redis_url',
  ],
  [
    'a user without scripts',
    ['--user', 'small', 'on', '>sm4ll-one', '~*', '+@all', '-@scripting'],
    'small:sm4ll-one@',
    'its user may not do what sharing needs (scripts, and keys that begin with svc:)',
  ],
  [
    'a full memory',
    ['--maxmemory', '1'],
    '',
    'its memory is full (maxmemory, with a policy that removes nothing)',
  ],
  [
    'a server without AUTH',
    ['--rename-command', 'AUTH', ''],
    'svc:h1dden-one@',
    "ERR unknown command 'auth'",
  ],
] as const) {
  test(`${what} is reported without the password, and requests continue`, async () => {
    const redis = await startRedis(options, user);
    const t = await startTestProxy({ yaml: LIMITED, env: { SVC_REDIS_URL: redis.url } });
    try {
      assert.equal(stateOf(t).reason, reason);
      await sendMany(t, 5);
      const log = await logOf(t);
      const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
      assert.is(count(log, 'Redis is unreachable'), 1, log);
      assert.match(text, reason);
      for (const secret of ['wr0ng-one', 'sm4ll-one', 'right-one', 'h1dden-one'])
        assert.not.ok(`${log}${text}${JSON.stringify(stateOf(t))}`.includes(secret));
    } finally {
      await t.close();
      await redis.stop();
    }
  });
}

test('connects with user, password and database number', async () => {
  const acl = ['--user', 'svc', 'on', '>p@ss:w0rd/#?', '~svc:*', '+@all', '-@admin', '-@dangerous'];
  const redis = await startRedis(acl, `svc:${encodeURIComponent('p@ss:w0rd/#?')}@`);
  const t = await startTestProxy({ yaml: LIMITED, env: { SVC_REDIS_URL: `${redis.url}/3` } });
  try {
    assert.is(stateOf(t).state, 'up', JSON.stringify(stateOf(t)));
    assert.is(stateOf(t).place, `127.0.0.1:${redis.port}/3`);
    await sendMany(t, 2);
    assert.match(await redis.ask('INFO', 'keyspace'), /db3:keys=\d/);
    await t.proxy.services.answers.store.settled();
    await t.proxy.services.answers.store.clear();
    assert.is(stateOf(t).unanswered, 0, 'this user has every right that svc needs');
  } finally {
    await t.close();
    await redis.stop();
  }
});

test.after(closeClients);
test.run();
