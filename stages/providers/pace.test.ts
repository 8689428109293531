import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { isSvcError } from '../../engine/index.ts';
import { Pace } from './pace.ts';

const neverAborted = new AbortController().signal;

/** The result of `enter`: milliseconds waited, or the Retry-After sent. */
async function enter(pace: Pace, signal = neverAborted): Promise<number | string> {
  try {
    return await pace.enter(signal);
  } catch (thrown) {
    if (!isSvcError(thrown)) return 'aborted';
    assert.is(thrown.code, 'RATELIMIT_002');
    return `refused ${thrown.retryAfterS}`;
  }
}

test('below the limit no request waits, and above it the queue moves as the minute passes', async () => {
  const clock = createManualClock();
  const pace = new Pace({ rpm: 2, maxWaitMs: 120_000 }, clock);
  assert.is(pace.enter(neverAborted), 0);
  clock.advance(10_000);
  assert.is(pace.enter(neverAborted), 0);
  const third = enter(pace);
  const fourth = enter(pace);
  assert.equal(pace.view(), { rpm: 2, started: 2, waiting: 2 });
  clock.advance(50_000);
  assert.is(await third, 50_000);
  clock.advance(10_000);
  assert.is(await fourth, 60_000);
  assert.is(pace.view().waiting, 0);
});

test('a request is refused with the wait if the queue is full or the wait too long', async () => {
  const clock = createManualClock();
  const pace = new Pace({ rpm: 1, maxWaiting: 1, maxWaitMs: 30_000 }, clock);
  void pace.enter(neverAborted);
  clock.advance(20_000);
  assert.is(await enter(pace), 'refused 40');
  clock.advance(15_000);
  const waiting = enter(pace);
  assert.is(await enter(pace), 'refused 85');
  clock.advance(25_000);
  assert.is(await waiting, 25_000);
});

test('a burst above the limit is queued for the next minute', async () => {
  const clock = createManualClock();
  const pace = new Pace({ rpm: 50 }, clock);
  const entered = Array.from({ length: 60 }, () => enter(pace));
  assert.is(pace.view().waiting, 10);
  clock.advance(60_000);
  assert.equal(await Promise.all(entered), [...Array(50).fill(0), ...Array(10).fill(60_000)]);
});

test('an aborted request leaves the queue, and later ones move up', async () => {
  const clock = createManualClock();
  const pace = new Pace({ rpm: 1, maxWaitMs: 200_000 }, clock);
  void pace.enter(neverAborted);
  const leavingClient = new AbortController();
  const first = enter(pace, leavingClient.signal);
  const second = enter(pace);
  leavingClient.abort(new Error('client gone'));
  assert.is(await first, 'aborted');
  clock.advance(60_000);
  assert.is(await second, 60_000);
  assert.is(await enter(pace, AbortSignal.abort(new Error('gone'))), 'aborted');
});

test('no request overtakes the queue when its timer is late', async () => {
  const manual = createManualClock();
  const pace = new Pace({ rpm: 2, maxWaitMs: 90_000 }, { ...manual, after: () => () => undefined });
  void pace.enter(neverAborted);
  void pace.enter(neverAborted);
  const first = enter(pace);
  manual.advance(120_000);
  const second = enter(pace);
  assert.is(pace.view().waiting, 0);
  assert.equal(await Promise.all([first, second]), [120_000, 0]);
});

test('a reload keeps the count and serves the queue by the new limit', async () => {
  const clock = createManualClock();
  const pace = new Pace({ rpm: 3 }, clock);
  for (let i = 0; i < 3; i += 1) {
    assert.is(pace.enter(neverAborted), 0);
    clock.advance(15_000);
  }
  const waiting = enter(pace);
  pace.configure({ rpm: 5 });
  assert.is(await waiting, 0);
  assert.equal(pace.view(), { rpm: 5, started: 4, waiting: 0 });
  pace.configure({ rpm: 2 });
  clock.advance(16_000);
  // A limit of two considers the two newest starts, at 30 s and at 45 s.
  const late = enter(pace);
  clock.advance(29_000);
  assert.is(await late, 29_000);
});

const load = fc.record({
  rpm: fc.integer({ min: 1, max: 4 }),
  maxWaiting: fc.integer({ min: 0, max: 12 }),
  maxWaitMs: fc.integer({ min: 0, max: 200_000 }),
  gaps: fc.array(fc.oneof(fc.constant(0), fc.nat(70_000)), { maxLength: 30 }),
});

test('each start is the earliest that the rolling minute and the queue allow', async () => {
  await fc.assert(
    fc.asyncProperty(load, async ({ gaps, ...options }) => {
      const clock = createManualClock();
      const pace = new Pace(options, clock);
      const starts: number[] = [];
      const expected: (number | string)[] = [];
      const actual: Promise<number | string>[] = [];
      let nowMs = 0;
      for (const gapMs of gaps) {
        clock.advance(gapMs);
        nowMs += gapMs;
        const minuteFreeMs = (starts.at(-options.rpm) ?? -Infinity) + 60_000;
        const startMs = Math.max(nowMs, starts.at(-1) ?? 0, minuteFreeMs);
        const waiting = starts.filter((one) => one > nowMs).length;
        const waitMs = startMs - nowMs;
        const isRefused =
          waitMs > 0 && (waiting >= options.maxWaiting || waitMs > options.maxWaitMs);
        expected.push(isRefused ? `refused ${Math.ceil(waitMs / 1000)}` : waitMs);
        if (!isRefused) starts.push(startMs);
        actual.push(enter(pace));
      }
      clock.advance(1_000_000);
      assert.equal(await Promise.all(actual), expected);
    }),
    { numRuns: 300 },
  );
});

test('with clients disconnecting, no minute exceeds the limit and no request waits forever', async () => {
  const step = fc.record({ gapMs: fc.nat(20_000), leaves: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step), async (rpm, steps) => {
      const clock = createManualClock();
      const pace = new Pace({ rpm, maxWaitMs: 500_000 }, clock);
      const controllers: AbortController[] = [];
      const ends: Promise<number | string>[] = [];
      const sinceMs: number[] = [];
      for (const { gapMs, leaves } of steps) {
        clock.advance(gapMs);
        const controller = new AbortController();
        controllers.push(controller);
        sinceMs.push(clock.monotonicMs());
        ends.push(enter(pace, controller.signal));
        if (leaves === 0) controllers[Math.floor(controllers.length / 2)]!.abort(new Error('gone'));
      }
      clock.advance(steps.length * 60_000);
      const waits = await Promise.all(ends);
      const starts = waits.flatMap((wait, i) =>
        typeof wait === 'number' ? [sinceMs[i]! + wait] : [],
      );
      assert.equal(
        starts,
        starts.toSorted((a, b) => a - b),
        'in order of arrival',
      );
      for (const [i, start] of starts.entries()) {
        assert.ok(start - (starts[i - rpm] ?? -Infinity) >= 60_000);
      }
      assert.is(pace.view().waiting, 0);
    }),
  );
});

test.run();
