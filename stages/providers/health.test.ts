import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { BreakerOutcome } from './breaker.ts';
import { Health } from './health.ts';
import type { HealthState } from './health.ts';

test('the third failure in a row marks it unhealthy for 30 s, and then one more failure is enough', () => {
  const clock = createManualClock();
  const health = new Health(clock);
  health.settle('failed');
  health.settle('failed');
  health.settle('succeeded');
  health.settle('failed');
  health.settle('failed');
  assert.is(health.isHealthy(), true);
  health.settle('failed');
  assert.equal(health.view(), {
    state: 'unhealthy',
    reason: 'down',
    failuresInRow: 3,
    recoversInMs: 30_000,
  });
  clock.advance(29_999);
  health.settle('failed');
  assert.is(health.isHealthy(), false);
  clock.advance(1);
  assert.is(health.isHealthy(), true, 'a failure meanwhile did not prolong it');
  health.settle('failed');
  assert.is(health.isHealthy(), false);
  health.settle('succeeded');
  assert.is(health.isHealthy(), true);
});

test('having no usable key marks it unhealthy at once', () => {
  const health = new Health(createManualClock());
  health.outOfKeys('auth');
  assert.is(health.view().reason, 'auth');
});

test('for clients with their own key only a failing provider is unhealthy, not one without usable keys', () => {
  const health = new Health(createManualClock());
  health.outOfKeys('rate_limited');
  assert.equal([health.isHealthy(), health.isUp()], [false, true]);
  for (let n = 0; n < 3; n += 1) health.settle('failed');
  assert.equal([health.isUp(), health.view().reason], [false, 'down']);
  health.outOfKeys('auth');
  assert.is(health.view().reason, 'down');
  health.force('healthy');
  assert.is(health.isUp(), true);
  health.force('unhealthy');
  assert.is(health.isUp(), false);
});

test('a forced unhealthy state lasts until it is forced healthy', () => {
  const clock = createManualClock();
  const health = new Health(clock);
  health.force('unhealthy');
  health.settle('succeeded');
  health.outOfKeys('auth');
  clock.advance(1e9);
  assert.is(health.view().reason, 'forced');
  assert.is(health.view().recoversInMs, Infinity);
  health.force('healthy');
  assert.equal(health.view(), {
    state: 'healthy',
    reason: undefined,
    failuresInRow: 0,
    recoversInMs: 0,
  });
});

type Event =
  | { readonly do: 'settle'; readonly outcome: BreakerOutcome }
  | { readonly do: 'keys' }
  | { readonly do: 'force'; readonly state: HealthState }
  | { readonly do: 'wait'; readonly ms: number };

/**
 * Returns whether the provider is healthy after these events, going through the table row by row.
 */
function expectedHealthy(events: readonly Event[]): boolean {
  let nowMs = 0;
  let row = 0;
  let bad: { untilMs: number } | undefined;
  for (const event of events) {
    if (event.do === 'wait') nowMs += event.ms;
    if (bad !== undefined && nowMs >= bad.untilMs) bad = undefined;
    if (event.do === 'force') {
      row = 0;
      bad = event.state === 'healthy' ? undefined : { untilMs: Infinity };
    }
    if (event.do === 'keys') bad ??= { untilMs: nowMs + 30_000 };
    if (event.do !== 'settle') continue;
    if (event.outcome === 'failed') row += 1;
    if (event.outcome === 'failed' && row >= 3) bad ??= { untilMs: nowMs + 30_000 };
    if (event.outcome === 'succeeded') row = 0;
    if (event.outcome === 'succeeded' && bad?.untilMs !== Infinity) bad = undefined;
  }
  return bad === undefined;
}

test('the implementation follows its state table', () => {
  const settle = fc.record({
    do: fc.constant('settle' as const),
    outcome: fc.constantFrom<BreakerOutcome>('succeeded', 'failed', 'failed', 'abandoned'),
  });
  const other = fc.oneof(
    fc.constant({ do: 'keys' as const }),
    fc.record({
      do: fc.constant('force' as const),
      state: fc.constantFrom<HealthState>('healthy', 'unhealthy'),
    }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(31_000) }),
  );
  const event: fc.Arbitrary<Event> = fc.oneof(
    { weight: 3, arbitrary: settle },
    { weight: 1, arbitrary: other },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const clock = createManualClock();
      const health = new Health(clock);
      for (const one of events) {
        if (one.do === 'settle') health.settle(one.outcome);
        if (one.do === 'keys') health.outOfKeys('rate_limited');
        if (one.do === 'force') health.force(one.state);
        if (one.do === 'wait') clock.advance(one.ms);
      }
      assert.is(health.isHealthy(), expectedHealthy(events));
    }),
    { numRuns: 500 },
  );
});

test.run();
