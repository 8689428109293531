import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import type { KeptAnswer } from './answer.ts';
import { createFlights, isSeat } from './flights.ts';
import type { Seat } from './flights.ts';

const free = new AbortController().signal;
const answerOf = (text: string): KeptAnswer => ({
  status: 200,
  headers: [],
  streaming: false,
  chunks: [Buffer.from(text)],
});
const textOf = (answer: KeptAnswer | undefined): string | undefined =>
  answer?.chunks[0]?.toString();
const follow = (seat: Seat, signal = free): Promise<string | undefined> => {
  assert.ok(seat.role === 'follower');
  return seat.answer(signal).then((got) => (isSeat(got) ? 'seat' : textOf(got)));
};
const land = (seat: Seat, text: string | undefined): void => {
  assert.ok(seat.role === 'leader');
  seat.land(text === undefined ? undefined : answerOf(text));
};

test('gives the leader’s answer to equal requests; a different key has a leader of its own', async () => {
  const flights = createFlights({ clock: createManualClock() });
  const leader = flights.board('a');
  const other = flights.board('b');
  const followers = [flights.board('a'), flights.board('a')].map((seat) => follow(seat));
  assert.is(flights.size, 2);
  land(leader, 'one');
  land(leader, 'two');
  assert.equal(await Promise.all(followers), ['one', 'one']);
  land(other, 'b');
  assert.is(flights.size, 0);
  assert.is(flights.board('a').role, 'leader');
});

test('keeps the answer for a follower that asks after the landing, even when the next flight has begun', async () => {
  const flights = createFlights({ clock: createManualClock() });
  const first = flights.board('a');
  const late = flights.board('a');
  land(first, 'one');
  const second = flights.board('a');
  assert.is(await follow(late), 'one');
  land(first, 'one again');
  assert.is(flights.size, 1, 'the first leader does not settle the second flight');
  land(second, 'two');
});

test('passes the seat of a leader that leaves to the follower that has waited longest', async () => {
  const flights = createFlights({ clock: createManualClock() });
  const first = flights.board('k');
  const waits = [0, 1, 2].map(() => {
    const seat = flights.board('k');
    assert.ok(seat.role === 'follower');
    return seat.answer(free);
  });
  assert.ok(first.role === 'leader');
  first.leave();
  first.land(answerOf('too late'));
  const second = await waits[0];
  assert.ok(isSeat(second));
  second.leave();
  const third = await waits[1];
  assert.ok(isSeat(third));
  const late = flights.board('k');
  land(third, 'x');
  assert.is(await follow(late), 'x');
  const last = await waits[2];
  assert.ok(!isSeat(last));
  assert.is(textOf(last), 'x');
  assert.is(flights.size, 0);
  const unfollowed = flights.board('k');
  assert.ok(unfollowed.role === 'leader');
  unfollowed.leave();
  assert.is(flights.size, 0);
});

test('ends a follower’s wait after the limit or when it is aborted, without affecting the others', async () => {
  const clock = createManualClock();
  const flights = createFlights({ clock, waitMs: 10_000 });
  const leader = flights.board('a');
  const gone = new AbortController();
  const aborted = follow(flights.board('a'), gone.signal).catch((error: Error) => error.message);
  clock.advance(4_000);
  const waiting = follow(flights.board('a'));
  gone.abort(new Error('client gone'));
  assert.is(await aborted, 'client gone');
  clock.advance(10_000);
  assert.is(await waiting, undefined);
  land(leader, 'late');
  const after = flights.board('a');
  assert.is(after.role, 'leader');
});

const step = fc.oneof(
  fc.record({ do: fc.constant('board' as const), key: fc.constantFrom('a', 'b') }),
  fc.record({ do: fc.constant('land' as const), which: fc.nat(100), ok: fc.boolean() }),
  fc.record({ do: fc.constant('abort' as const), which: fc.nat(100) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(20_000) }),
);

interface Rider {
  readonly id: number;
  readonly key: string;
  readonly sinceMs: number;
  readonly seat: Seat;
  readonly controller: AbortController;
  readonly got: Promise<string>;
  expected: string | undefined;
}

test('ends every follower with its leader’s answer, alone, or aborted, whatever the order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50, size: 'max' }), async (steps) => {
      const clock = createManualClock();
      const flights = createFlights({ clock, waitMs: 30_000 });
      const leading = new Map<string, Rider>();
      const riders: Rider[] = [];
      const settleExpired = (): void => {
        for (const one of riders) {
          if (clock.monotonicMs() - one.sinceMs >= 30_000) one.expected ??= 'alone';
        }
      };
      for (const one of steps) {
        if (one.do === 'wait') clock.advance(one.ms);
        settleExpired();
        if (one.do === 'board') {
          const seat = flights.board(one.key);
          assert.is(seat.role, leading.has(one.key) ? 'follower' : 'leader');
          const controller = new AbortController();
          const waits =
            seat.role === 'leader' ? Promise.resolve('lead') : follow(seat, controller.signal);
          const actual = waits.then((text) => text ?? 'alone').catch(() => 'aborted');
          const expected = seat.role === 'leader' ? 'lead' : undefined;
          const rider = {
            id: riders.length,
            key: one.key,
            sinceMs: clock.monotonicMs(),
            seat,
            controller,
            got: actual,
            expected,
          };
          riders.push(rider);
          if (seat.role === 'leader') leading.set(one.key, rider);
        }
        const rider = 'which' in one ? riders[one.which % Math.max(1, riders.length)] : undefined;
        if (rider !== undefined && one.do === 'abort') {
          rider.controller.abort(new Error('gone'));
          rider.expected ??= 'aborted';
        }
        if (rider?.seat.role !== 'leader' || one.do !== 'land') continue;
        land(rider.seat, one.ok ? String(rider.id) : undefined);
        if (leading.get(rider.key) !== rider) continue;
        leading.delete(rider.key);
        for (const each of riders) {
          if (each.key === rider.key && each.id > rider.id)
            each.expected ??= one.ok ? String(rider.id) : 'alone';
        }
      }
      clock.advance(30_000);
      settleExpired();
      assert.equal(
        await Promise.all(riders.map((one) => one.got)),
        riders.map((one) => one.expected),
      );
    }),
    { numRuns: 200 },
  );
});

test.run();
