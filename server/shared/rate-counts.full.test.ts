/** Buckets in Redis compared with those in memory: equal decisions for every request. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { MESSAGE, closeClients } from '../../fixtures/server/exchange.ts';
import { startRedis, withSteadyPair } from '../../fixtures/server/redis.ts';
import type { TestRedis } from '../../fixtures/server/redis.ts';
import { isEnd, isError, openTalk } from '../../fixtures/server/websocket.ts';
import { until } from '../../fixtures/wait.ts';
import { createRateLimiter } from '../http/limit.ts';
import type { RateDecision, RateLimits } from '../http/limit.ts';
import { connectLink } from './open-shared.ts';
import { createRateCounts } from './rate-counts.ts';

const SILENT = { info: () => undefined, warning: () => undefined, error: () => undefined };

async function withLimiters(
  limits: readonly RateLimits[],
  use: (
    limiters: readonly ReturnType<typeof createRateLimiter>[],
    redis: TestRedis,
  ) => Promise<void>,
): Promise<void> {
  const redis = await startRedis();
  const links = await Promise.all(limits.map(() => connectLink(redis.url, SILENT, systemClock)));
  try {
    await Promise.all(links.map((link) => link.settled(5000)));
    const limiters = links.map((link, index) =>
      createRateLimiter({ ...limits[index], clock: systemClock, shared: createRateCounts(link) }),
    );
    await use(limiters, redis);
    for (const link of links) assert.is(link.view().unanswered, 0);
  } finally {
    for (const link of links) link.close();
    await redis.stop();
  }
}

/** Asserts equal decisions; their times may differ by one second. */
function isAlike(
  one: RateDecision | undefined,
  other: RateDecision | undefined,
  what: string,
): void {
  assert.ok(one !== undefined && other !== undefined);
  const parts = ({ isAllowed, limit, remaining }: RateDecision) => [isAllowed, limit, remaining];
  assert.equal(parts(one), parts(other), what);
  assert.ok(Math.abs(one.retryAfterS - other.retryAfterS) <= 1, what);
  assert.ok(Math.abs(one.resetEpochS - other.resetEpochS) <= 1, what);
}

// Rates so slow that nothing refills while the test runs, and intervals that binary fractions
// cannot represent.
for (const limits of [
  { perMinute: 7 },
  { perMinute: 13 },
  { perSecond: 0.07, burst: 9 },
  { perMinute: 11, perSecond: 0.03, burst: 6 },
  { perMinute: 6, perSecond: 0.03, burst: 11 },
  { perSecond: 0.3 },
])
  test(`${JSON.stringify(limits)}: two limiters with Redis decide like one in memory`, () =>
    withLimiters([limits, limits], async (pair) => {
      const alone = createRateLimiter({ ...limits, clock: systemClock });
      for (let i = 0; i < 20; i += 1)
        isAlike(await pair[i % 2]!.takeTogether('a'), alone.take('a'), `request ${i}`);
      assert.is((await pair[0]!.takeTogether('b'))?.isAllowed, true, 'another source');
    }));

test("proxies with different limits count each other's requests", () =>
  withLimiters([{ perMinute: 6 }, { perMinute: 60 }, { perMinute: 2 }], async (limiters) => {
    const [six, sixty, two] = limiters;
    for (let i = 0; i < 3; i += 1) await six!.takeTogether('a');
    assert.is((await sixty!.takeTogether('a'))?.remaining, 56);
    assert.is((await six!.takeTogether('a'))?.remaining, 1);
    const refused = await two!.takeTogether('a');
    assert.equal(
      [refused?.isAllowed, refused?.retryAfterS],
      [false, 30],
      'no more than a full bucket',
    );
    assert.is((await sixty!.takeTogether('a'))?.remaining, 54, 'a refusal uses nothing');
  }));

test('a limit configured in one proxy applies there while another proxy admits requests', () =>
  withLimiters([{ perMinute: 10, perSecond: 0.01, burst: 3 }, { perMinute: 10 }], async (pair) => {
    const [both, minute] = pair;
    await both!.takeTogether('a');
    for (let i = 0; i < 4; i += 1) await minute!.takeTogether('a');
    const after = await both!.takeTogether('a');
    assert.equal([after?.limit, after?.remaining], [3, 1]);
    assert.equal((await both!.takeTogether('a'))?.remaining, 0);
    assert.is((await both!.takeTogether('a'))?.isAllowed, false);
    assert.is((await minute!.takeTogether('a'))?.remaining, 2);
  }));

test('a bucket refills by the clock of Redis, and its record expires when it is full', () =>
  withLimiters([{ perSecond: 0.5, burst: 2 }], async ([limiter], redis) => {
    const take = async () => (await limiter!.takeTogether('a'))?.isAllowed;
    assert.equal([await take(), await take(), await take()], [true, true, false]);
    await until('one more is allowed', take);
    const name = /svc:1:rate:\S+/.exec(await redis.ask('KEYS', '*'))![0];
    const leftMs = Number(/:(\d+)/.exec(await redis.ask('PTTL', name))![1]);
    assert.ok(leftMs > 0 && leftMs <= 5000, String(leftMs));
  }));

test('frames of a WebSocket are counted as well, and keep their order', () =>
  withSteadyPair({ yaml: 'security: { rate_limit_per_minute: 6 }' }, async (one, other) => {
    const first = await openTalk(one.proxy.port);
    const second = await openTalk(other.proxy.port);
    first.ask(MESSAGE);
    first.ask(MESSAGE);
    await first.until(isEnd, 2);
    second.ask(MESSAGE);
    second.ask(MESSAGE);
    second.ask(MESSAGE);
    await second.until((received) => isEnd(received) || isError(received), 3);
    assert.is(other.upstream.requests.length, 4, 'two upgrades and four frames');
    const [refused] = second.received.filter(isError);
    assert.is(refused?.error?.code ?? refused?.error?.type, 'RATELIMIT_001');
    first.socket.terminate();
    second.socket.terminate();
  }));

test.after(closeClients);
test.run();
