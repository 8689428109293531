import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { estimateUsage, spendingFault } from './estimate.ts';
import { requestedOutput } from './max-output.ts';
import { SpendingGuard } from './guard.ts';
import type { Grant, Reservation } from './reservation.ts';
import type { SpendingSettings } from './spending.ts';
import { createSessions } from './sessions.ts';

const USD = 1e9;
const noLimits: SpendingSettings = {
  enabled: true,
  perRequestNanoUsd: null,
  perSessionNanoUsd: null,
  perDayNanoUsd: null,
  perMonthNanoUsd: null,
  projects: new Map(),
  perDayTokens: null,
  warnPercent: 80,
};
const perDay = (usd: number): SpendingSettings => ({ ...noLimits, perDayNanoUsd: usd * USD });
const ask = (guard: SpendingGuard, usd: number | null, session = 's', allow = false): Grant =>
  guard.reserve({ estimateNanoUsd: usd === null ? null : usd * USD, session }, allow);
function granted(grant: Grant): Reservation {
  assert.ok(grant.granted, 'it was blocked');
  return grant.reservation;
}
const blockedBy = (grant: Grant): string | undefined =>
  grant.granted ? undefined : grant.note.scope;

test('allows a request that reaches the limit exactly, and blocks one above it with the reason', () => {
  const guard = new SpendingGuard({ ...noLimits, perRequestNanoUsd: USD }, createManualClock());
  assert.is(ask(guard, 1).granted, true);
  const over = ask(guard, 1.5);
  assert.ok(!over.granted);
  const fault = spendingFault(over.note);
  assert.is(fault.kind, 'spending_limit');
  assert.is(
    fault.message,
    "Spending limit of $1.00 per request reached: this request is estimated at $1.50. Send 'x-svc-allow-spend: once' (from another machine with a key that may) or run `svc spend allow` to allow it.",
  );
});

test('counts reservations, so that concurrent requests cannot exceed a limit together', () => {
  const guard = new SpendingGuard(perDay(1), createManualClock());
  const first = granted(ask(guard, 0.6));
  assert.is(blockedBy(ask(guard, 0.6)), 'day');
  first.settle(0.1 * USD);
  first.release();
  assert.is(guard.view().spentTodayNanoUsd, 0.1 * USD);
  const second = granted(ask(guard, 0.6));
  second.release();
  second.settle(0.5 * USD);
  assert.equal([guard.view().spentTodayNanoUsd, guard.view().heldNanoUsd], [0.1 * USD, 0]);
});

test('adjusts a reservation to a new estimate, unless that would exceed a limit', () => {
  const guard = new SpendingGuard(perDay(1), createManualClock());
  const heldUsd = (): number => guard.view().heldNanoUsd / USD;
  const first = granted(ask(guard, 0.4));
  const other = granted(ask(guard, 0.2));
  assert.is(first.change({ estimateNanoUsd: 0.9 * USD })?.scope, 'day');
  assert.is(first.change({ estimateNanoUsd: 0.9 * USD })?.scope, 'day');
  assert.equal([heldUsd().toFixed(1), guard.view().blocked], ['0.6', 2]);
  assert.is(
    first.change({ estimateNanoUsd: 0.8 * USD }),
    undefined,
    'a request is not blocked by its own reservation',
  );
  assert.is(heldUsd(), 1);
  first.settleUnmeasured();
  assert.is(guard.view().spentTodayNanoUsd, 0.8 * USD);
  assert.is(first.change({ estimateNanoUsd: 9 * USD }), undefined, 'it has ended');
  guard.allowNext();
  assert.is(other.change({ estimateNanoUsd: 5 * USD }), undefined);
  assert.is(guard.view().allowedOnce, 1);
  assert.is(
    other.change({ estimateNanoUsd: 6 * USD }),
    undefined,
    'one allowance is for one request',
  );
  other.release();
  assert.is(heldUsd(), 0);
});

test('limits the tokens per day independently of their cost', () => {
  const guard = new SpendingGuard({ ...noLimits, perDayTokens: 1000 }, createManualClock());
  const take = (estimateTokens: number): Grant =>
    guard.reserve({ estimateNanoUsd: null, estimateTokens, session: 's' });
  const first = granted(take(600));
  const over = take(500);
  assert.ok(!over.granted);
  assert.match(spendingFault(over.note).message, /1,000 tokens per day reached: 600 tokens of it/);
  first.settle(null, 100);
  assert.is(guard.view().tokensToday, 100);
  assert.is(guard.view().dayLeftPercent, 90);
  assert.ok(take(900).granted);
});

test('charges the estimate when an answer reports no usage, and nothing when the price is unknown', () => {
  const guard = new SpendingGuard({ ...perDay(10), perDayTokens: 1000 }, createManualClock());
  const reserve = (estimateNanoUsd: number | null): Reservation =>
    granted(guard.reserve({ estimateNanoUsd, estimateTokens: 600, session: 's' }, true));
  const first = reserve(2 * USD);
  first.settleUnmeasured();
  first.settle(1);
  const { spentTodayNanoUsd, heldNanoUsd, tokensToday } = guard.view();
  assert.equal([spentTodayNanoUsd, heldNanoUsd, tokensToday], [2 * USD, 0, 600]);
  reserve(null).settleUnmeasured();
  assert.is(guard.view().spentTodayNanoUsd, 2 * USD);
  assert.is(guard.view().tokensToday, 1200);
});

test('accounts for each session separately', () => {
  const guard = new SpendingGuard({ ...noLimits, perSessionNanoUsd: USD }, createManualClock());
  granted(ask(guard, 0.9, 'a')).settle(0.9 * USD);
  assert.is(blockedBy(ask(guard, 0.2, 'a')), 'session');
  assert.is(ask(guard, 0.2, 'b').granted, true);
});

test('warns once the configured percentage is reached', () => {
  const guard = new SpendingGuard(perDay(1), createManualClock());
  assert.is(guard.check({ estimateNanoUsd: 0.79 * USD, session: 's' }).verdict, 'ok');
  const grant = ask(guard, 0.8);
  assert.ok(grant.granted);
  assert.equal(
    grant.warnings.map((note) => note.scope),
    ['day'],
  );
  assert.is(guard.view().warned, 1);
});

test('starts the day with the spending in the ledger, and ends it at midnight UTC', () => {
  const clock = createManualClock(Date.UTC(2026, 10, 20, 23, 59));
  const guard = new SpendingGuard(perDay(1), clock);
  guard.count(0.7 * USD, 0);
  assert.is(Math.round(guard.view().dayLeftPercent ?? 0), 30);
  assert.is(blockedBy(ask(guard, 0.4)), 'day');
  const over = granted(ask(guard, 0.3));
  clock.advance(60_000);
  assert.is(guard.view().day, '2026-11-21');
  assert.is(
    blockedBy(ask(guard, 0.8)),
    'day',
    'a request that runs past midnight is still reserved',
  );
  over.settle(0.3 * USD);
  assert.is(guard.view().spentTodayNanoUsd, 0.3 * USD);
});

test('neither blocks nor charges a request with an unknown price', () => {
  const guard = new SpendingGuard(perDay(1), createManualClock());
  guard.count(2 * USD, 0);
  granted(ask(guard, null)).settle(null);
  assert.is(guard.view().spentTodayNanoUsd, 2 * USD);
  granted(ask(guard, null)).settle(0.5 * USD);
  assert.is(guard.view().spentTodayNanoUsd, 2.5 * USD);
});

test('lets a request exceed a limit once: by its own header, or by an operator within ten minutes', () => {
  const clock = createManualClock();
  const guard = new SpendingGuard(perDay(1), clock);
  guard.count(USD, 0);
  const once = ask(guard, 0.1, 's', true);
  assert.ok(once.granted && once.allowedOnce);
  assert.is(ask(guard, 0.1).granted, false);
  guard.allowNext();
  assert.is(guard.check({ estimateNanoUsd: USD, session: 's' }).verdict, 'blocked');
  assert.is(ask(guard, 0.1).granted, true);
  assert.is(ask(guard, 0.1).granted, false);
  guard.allowNext();
  clock.advance(600_000);
  assert.is(ask(guard, 0.1).granted, false);
  assert.equal([guard.view().allowedOnce, guard.view().blocked], [2, 3]);
});

test('blocks nothing while it is off, but counts, so that turning it on starts with correct figures', () => {
  const guard = new SpendingGuard({ ...perDay(1), enabled: false }, createManualClock());
  granted(ask(guard, 5)).settle(5 * USD);
  assert.is(guard.view().enabled, false);
  guard.configure(perDay(1));
  assert.is(blockedBy(ask(guard, 0.1)), 'day');
});

test('does not evict sessions that have reservations', () => {
  const sessions = createSessions(2);
  sessions.open('a').held = 1;
  for (const name of ['b', 'c', 'd', 'e']) sessions.open(name).spent = 1;
  assert.is(sessions.peek('b'), undefined);
  assert.is(sessions.peek('a')?.held, 1);
  for (const name of ['c', 'd', 'e']) assert.is(sessions.peek(name)?.spent, 1, name);
  for (let more = 0; more < 9; more += 1) sessions.open(`more ${more}`);
  assert.is(sessions.peek('e'), undefined);
  assert.is(sessions.open('a').held, 1);
});

test('estimates all input at the plain price, and the maximum output of the request or the model', () => {
  const estimatedOutput = (body: unknown, model: string) =>
    estimateUsage({ inputTokens: 100, output: requestedOutput(body) }, model).outputTokens;
  const bodies: readonly (readonly [body: unknown, tokens: number])[] = [
    [{ max_tokens: 50 }, 50],
    [{ max_tokens: 32_000 }, 32_000],
    [{ max_completion_tokens: 9000, max_tokens: 1 }, 9000],
    [{ max_output_tokens: 7 }, 7],
    [{ generationConfig: { maxOutputTokens: 900, candidateCount: 4 } }, 3600],
    [{ generation_config: { max_output_tokens: 900 } }, 900],
    [{ max_tokens: 100, n: 5 }, 500],
    [{ max_tokens: 100, n: 2, best_of: 9 }, 900],
    [{ max_tokens: 100, n: -5 }, 100],
    [{ max_tokens: 0.5 }, 64_000],
    [{ max_tokens: -1 }, 64_000],
    [{ max_tokens: '9' }, 64_000],
    [{ n: 2 }, 128_000],
    [{}, 64_000],
    [undefined, 64_000],
  ];
  for (const [body, tokens] of bodies)
    assert.is(estimatedOutput(body, 'claude-sonnet-4-5'), tokens, JSON.stringify(body));
  assert.is(estimateUsage({ inputTokens: 100, output: undefined }, 'x').outputTokens, 0);
  assert.is(estimateUsage({ inputTokens: 100, output: undefined }, 'x').inputTokens, 100);
});

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      cents: fc.nat(60),
      session: fc.constantFrom('a', 'b'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat(50),
      percent: fc.nat(150),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), which: fc.nat(50) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      hours: fc.integer({ min: 1, max: 30 }),
    }),
  },
);

test('grants the same requests as a simple model, exceeding limits only where estimates fell short', () => {
  const CENT = USD / 100;
  const limits = { request: 50 * CENT, session: 150 * CENT, day: 200 * CENT };
  const settings: SpendingSettings = {
    ...noLimits,
    perRequestNanoUsd: limits.request,
    perSessionNanoUsd: limits.session,
    perDayNanoUsd: limits.day,
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const clock = createManualClock();
      const guard = new SpendingGuard(settings, clock);
      const log: {
        session: string;
        estimate: number;
        cost: number | undefined;
        day: number;
        reservation: Reservation;
      }[] = [];
      const today = (): number => Math.floor(clock.wallMs() / 86_400_000);
      const used = (keep: (one: (typeof log)[number]) => boolean): number =>
        log.filter(keep).reduce((sum, one) => sum + (one.cost ?? one.estimate), 0);
      const isToday = (one: (typeof log)[number]): boolean =>
        one.cost === undefined || one.day === today();
      for (const one of steps) {
        if (one.do === 'wait') clock.advance(one.hours * 3_600_000);
        if (one.do === 'reserve') {
          const estimate = one.cents * CENT;
          const expected =
            estimate <= limits.request &&
            used((other) => other.session === one.session) + estimate <= limits.session &&
            used(isToday) + estimate <= limits.day;
          const grant = guard.reserve({ estimateNanoUsd: estimate, session: one.session });
          assert.is(grant.granted, expected);
          if (grant.granted)
            log.push({
              session: one.session,
              estimate,
              cost: undefined,
              day: 0,
              reservation: grant.reservation,
            });
        }
        const entry = 'which' in one ? log[one.which % Math.max(1, log.length)] : undefined;
        if (entry !== undefined && (one.do === 'settle' || one.do === 'release')) {
          const cost = one.do === 'release' ? 0 : Math.round((entry.estimate * one.percent) / 100);
          if (one.do === 'release') entry.reservation.release();
          else entry.reservation.settle(cost);
          if (entry.cost === undefined) Object.assign(entry, { cost, day: today() });
        }
        const view = guard.view();
        assert.is(view.spentTodayNanoUsd + view.heldNanoUsd, used(isToday));
        const shortfall = log.reduce(
          (sum, each) => sum + Math.max(0, (each.cost ?? 0) - each.estimate),
          0,
        );
        assert.ok(view.spentTodayNanoUsd <= limits.day + shortfall);
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
