import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../engine/clock.ts';
import { createRateLimiter, createStreamLimit, rateLimitHeaders } from './limit.ts';
import type { Bucket, SharedCounts } from './limit.ts';

const START_MS = Date.UTC(2026, 0, 1);
const START_S = START_MS / 1000;

test('a source may use its limit at once, and then waits until the next request is due', () => {
  const clock = createManualClock(START_MS);
  const limiter = createRateLimiter({ perMinute: 60, clock });
  for (let left = 59; left >= 0; left -= 1) {
    const decision = limiter.take('10.0.0.1');
    assert.is(decision?.isAllowed, true);
    assert.is(decision?.remaining, left);
  }
  assert.equal(limiter.take('10.0.0.1'), {
    isAllowed: false,
    limit: 60,
    remaining: 0,
    resetEpochS: START_S + 60,
    retryAfterS: 1,
  });
  assert.is(limiter.take('10.0.0.2')?.isAllowed, true, 'each source has its own bucket');
  clock.advance(999);
  assert.is(limiter.take('10.0.0.1')?.isAllowed, false);
  clock.advance(1);
  assert.is(limiter.take('10.0.0.1')?.isAllowed, true);
  assert.is(limiter.take('10.0.0.1')?.isAllowed, false);
  clock.advance(60_000);
  assert.is(
    limiter.take('10.0.0.1')?.remaining,
    59,
    'the queue is full again but not over its limit',
  );
});

test('Retry-After is long enough, and refusals do not lengthen the wait', () => {
  const clock = createManualClock(START_MS);
  const limiter = createRateLimiter({ perMinute: 4, clock });
  for (let i = 0; i < 4; i += 1) limiter.take('a');
  const waits = Array.from({ length: 50 }, () => limiter.take('a')?.retryAfterS);
  assert.equal(new Set(waits), new Set([15]));
  clock.advance(15_000);
  assert.is(limiter.take('a')?.isAllowed, true);
});

test('both limits apply, and the tighter one is reported', () => {
  const clock = createManualClock(START_MS);
  const limiter = createRateLimiter({ perMinute: 10, perSecond: 2, burst: 3, clock });
  for (let i = 0; i < 3; i += 1) assert.is(limiter.take('a')?.isAllowed, true);
  const refused = limiter.take('a');
  assert.is(refused?.isAllowed, false);
  assert.is(refused?.limit, 3);
  for (let i = 0; i < 7; i += 1) {
    clock.advance(500);
    assert.is(limiter.take('a')?.isAllowed, true);
  }
  clock.advance(500);
  const perMinute = limiter.take('a');
  assert.is(perMinute?.isAllowed, false);
  assert.is(perMinute?.limit, 10);
});

test('a limiter without limits admits everything and stores nothing', () => {
  const limiter = createRateLimiter({ perMinute: 0, perSecond: 0, clock: systemClock });
  assert.is(limiter.take('a'), undefined);
  assert.is(limiter.size, 0);
});

test('the rate headers are whole numbers', () => {
  const clock = createManualClock(START_MS + 1);
  const decision = createRateLimiter({ perMinute: 7, clock }).take('a');
  assert.ok(decision);
  const values = rateLimitHeaders(decision);
  assert.equal(values, [
    'X-RateLimit-Limit',
    '7',
    'X-RateLimit-Remaining',
    '6',
    'X-RateLimit-Reset',
    String(START_S + 9),
  ]);
});

test('a million sources use no more memory than twenty thousand, and a busy one is remembered', () => {
  const clock = createManualClock(START_MS);
  const limiter = createRateLimiter({ perMinute: 2, clock });
  limiter.take('busy');
  limiter.take('busy');
  for (let i = 0; i < 1_000_000; i += 1) {
    limiter.take(`s${i}`);
    if (i % 5000 === 0) assert.is(limiter.take('busy')?.isAllowed, false);
  }
  assert.ok(limiter.size <= 20_000, String(limiter.size));
});

interface Limit {
  readonly capacity: number;
  readonly intervalMs: number;
}

/** A plain model of one source's buckets: credit in milliseconds; a request costs one interval. */
function createModel(limits: readonly Limit[]) {
  const full = (limit: Limit): number => limit.capacity * limit.intervalMs;
  const buckets = limits.map((limit) => ({ limit, creditMs: full(limit) }));
  return {
    advance(ms: number) {
      for (const bucket of buckets)
        bucket.creditMs = Math.min(full(bucket.limit), bucket.creditMs + ms);
    },
    take(wallMs: number) {
      const waitMs = ({ limit, creditMs }: (typeof buckets)[number]) => limit.intervalMs - creditMs;
      const free = (each: (typeof buckets)[number]) =>
        Math.floor(each.creditMs / each.limit.intervalMs);
      const isAllowed = buckets.every((bucket) => waitMs(bucket) <= 0);
      if (isAllowed) for (const bucket of buckets) bucket.creditMs -= bucket.limit.intervalMs;
      const [reported] = isAllowed
        ? buckets.toSorted((one, other) => free(one) - free(other))
        : buckets.toSorted((one, other) => waitMs(other) - waitMs(one));
      return {
        isAllowed,
        limit: reported!.limit.capacity,
        remaining: free(reported!),
        resetEpochS: Math.ceil((wallMs + full(reported!.limit) - reported!.creditMs) / 1000),
        retryAfterS: isAllowed ? 0 : Math.ceil(waitMs(reported!) / 1000),
      };
    },
  };
}

/** Rates whose intervals are whole milliseconds, so that the model is exact. */
const PER_MINUTE = [1, 2, 3, 6, 10, 48, 60, 1000];
const PER_SECOND = [0.1, 0.5, 1, 2, 5, 10, 40];

test('the limiter decides like two plain token buckets', () => {
  fc.assert(
    fc.property(
      fc.option(fc.constantFrom(...PER_MINUTE), { nil: undefined }),
      fc.option(fc.constantFrom(...PER_SECOND), { nil: undefined }),
      fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30_000 })), { maxLength: 300 }),
      (perMinute, perSecond, burst, gaps) => {
        const clock = createManualClock(START_MS);
        const limiter = createRateLimiter({ perMinute, perSecond, burst, clock });
        const limits: Limit[] = [];
        if (perMinute !== undefined)
          limits.push({ capacity: perMinute, intervalMs: 60_000 / perMinute });
        if (perSecond !== undefined) {
          const capacity = burst ?? Math.max(1, Math.floor(perSecond));
          limits.push({ capacity, intervalMs: 1000 / perSecond });
        }
        const model = createModel(limits);
        for (const gapMs of gaps) {
          clock.advance(gapMs);
          model.advance(gapMs);
          const decision = limiter.take('a');
          if (limits.length === 0) assert.is(decision, undefined);
          else assert.equal(decision, model.take(clock.wallMs()));
        }
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});

test('reloading the same limits changes nothing, and new limits keep the counts', () => {
  const clock = createManualClock(START_MS);
  const limiter = createRateLimiter({ perMinute: 6, perSecond: 10, burst: 4, clock });
  for (let n = 0; n < 4; n += 1) assert.is(limiter.take('a')?.isAllowed, true);
  limiter.configure({ perMinute: 6, perSecond: 10, burst: 4 });
  assert.is(limiter.take('a')?.isAllowed, false);
  limiter.configure({ perMinute: 5 });
  assert.is(limiter.take('a')?.isAllowed, true);
  assert.equal([limiter.take('a')?.isAllowed, limiter.take('a')?.retryAfterS], [false, 12]);
  limiter.configure({ perMinute: 60 });
  assert.is(limiter.take('a')?.remaining, 54, 'five of sixty and this one are used');
  limiter.configure({ perMinute: 1 });
  assert.is(limiter.take('a')?.retryAfterS, 60, 'no client waits for more than one request');
  limiter.configure({});
  assert.is(limiter.take('a'), undefined);
  limiter.configure({ perMinute: 1 });
  assert.is(limiter.take('a')?.isAllowed, true);
});

/** A plain model of buckets shared by several limiters; `isUp` and `answers` simulate an outage. */
function createSharedModel(clock: { monotonicMs(): number }) {
  const full = new Map<string, number>();
  const model = { isUp: true, answers: true, asked: 0 };
  const counts: SharedCounts = {
    get isUp() {
      return model.isUp;
    },
    async take(source, buckets, min) {
      model.asked += 1;
      if (!model.answers) return undefined;
      const nowMs = clock.monotonicMs();
      const name = (bucket: Bucket) => `${source} ${bucket.name}`;
      const owed = buckets.map((bucket, index) =>
        Math.max(0, (full.get(name(bucket)) ?? 0) - nowMs, min[index] ?? 0),
      );
      const isFree = buckets.every(
        ({ capacity, intervalMs }, index) =>
          owed[index]! + intervalMs <= capacity * intervalMs + 5e-4,
      );
      for (const [index, bucket] of buckets.entries())
        if (isFree) full.set(name(bucket), nowMs + owed[index]! + bucket.intervalMs);
      return owed;
    },
  };
  return { model, counts, forget: () => full.clear() };
}

test('two limiters with shared counts decide like one', async () => {
  for (const limits of [
    { perMinute: 10 },
    { perSecond: 2, burst: 3 },
    { perMinute: 6, perSecond: 1, burst: 2 },
  ]) {
    const clock = createManualClock(START_MS);
    const { counts } = createSharedModel(clock);
    const pair = [0, 1].map(() => createRateLimiter({ ...limits, clock, shared: counts }));
    const alone = createRateLimiter({ ...limits, clock });
    for (let i = 0; i < 60; i += 1) {
      clock.advance((i * 7919) % 1500);
      assert.equal(
        await pair[i % 2]!.takeTogether('a'),
        alone.take('a'),
        JSON.stringify([limits, i]),
      );
    }
  }
});

test('if the shared counts do not respond, the last known ones decide', async () => {
  const clock = createManualClock(START_MS);
  const { model, counts, forget } = createSharedModel(clock);
  const [one, other] = [0, 1].map(() =>
    createRateLimiter({ perMinute: 10, clock, shared: counts }),
  );
  for (let i = 0; i < 3; i += 1) await one!.takeTogether('a');
  for (let i = 0; i < 2; i += 1) await other!.takeTogether('a');
  model.answers = false;
  assert.is((await one!.takeTogether('a'))?.remaining, 6, 'three earlier ones and this one');
  assert.is((await other!.takeTogether('a'))?.remaining, 4, 'all five were counted here');
  model.isUp = false;
  const before = model.asked;
  assert.is((await one!.takeTogether('a'))?.remaining, 5);
  assert.is(model.asked, before);
  Object.assign(model, { isUp: true, answers: true });
  forget();
  assert.is(
    (await other!.takeTogether('a'))?.remaining,
    3,
    'even after all other buckets were dropped',
  );
});

test('reloaded limits also apply to a request that waited for the shared counts in vain', async () => {
  const clock = createManualClock(START_MS);
  const { model, counts } = createSharedModel(clock);
  model.answers = false;
  const limiter = createRateLimiter({ perMinute: 10, perSecond: 1, clock, shared: counts });
  const waited = limiter.takeTogether('a');
  limiter.configure({ perMinute: 20 });
  assert.equal([(await waited)?.limit, limiter.take('a')?.remaining], [20, 18]);
  const last = limiter.takeTogether('a');
  limiter.configure({});
  assert.is(await last, undefined, 'there is no limit any more');
});

test('without limits the shared counts are not queried', async () => {
  const clock = createManualClock(START_MS);
  const { model, counts } = createSharedModel(clock);
  assert.is(createRateLimiter({ clock, shared: counts }).takeTogether('a'), undefined);
  assert.is(model.asked, 0);
});

test('streams have a fixed number of slots, each released once', () => {
  const streams = createStreamLimit(2);
  const first = streams.acquire();
  const second = streams.acquire();
  assert.ok(first && second);
  assert.is(streams.acquire(), undefined);
  first();
  first();
  assert.is(streams.active, 1);
  assert.ok(streams.acquire());
  assert.is(streams.acquire(), undefined);
});

test('a new limit for streams applies at once, and running streams continue', () => {
  const streams = createStreamLimit(1);
  const first = streams.acquire();
  streams.configure(2);
  assert.ok(streams.acquire());
  streams.configure(1);
  first?.();
  assert.is(streams.active, 1);
  assert.is(streams.acquire(), undefined);
});

test('streams are counted even without a limit', () => {
  for (const max of [undefined, 0]) {
    const streams = createStreamLimit(max);
    for (let i = 0; i < 1000; i += 1) assert.ok(streams.acquire());
    assert.is(streams.active, 1000);
  }
});

test.run();
