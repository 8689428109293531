import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { KeyRing, keyFault } from './keys.ts';
import type { KeyPick, KeyRotation } from './keys.ts';
import type { ProviderKey } from './provider.ts';

const key = (name: string): ProviderKey => ({
  secret: `secret-of-${name}`,
  scheme: 'key',
  label: name,
});
const settings = (rotation: KeyRotation, names: string) => ({
  rotation,
  keys: Array.from(names, key),
  cooldown429Ms: 60_000,
  cooldown401Ms: 300_000,
});
const labelOf = (pick: KeyPick): string => (pick.usable ? pick.key.label : pick.why);
const take = (ring: KeyRing, exclude?: ReadonlySet<string>): string => labelOf(ring.pick(exclude));
function rejectNext(ring: KeyRing, how: 'limited' | 'refused', retryAfterMs?: number): void {
  const pick = ring.pick();
  if (pick.usable) ring.reject(pick.id, how, retryAfterMs);
}

test('failover stays with the first usable key, and roundrobin takes them in turn', () => {
  const clock = createManualClock();
  const first = new KeyRing(settings('failover', 'abc'), clock);
  assert.equal([take(first), take(first), take(first)], ['a', 'a', 'a']);
  rejectNext(first, 'limited');
  assert.equal([take(first), take(first)], ['b', 'b']);
  clock.advance(60_000);
  assert.is(take(first), 'a');
  const turn = new KeyRing(settings('roundrobin', 'abc'), clock);
  assert.equal([take(turn), take(turn), take(turn), take(turn)], ['a', 'b', 'c', 'a']);
});

test('a rejected key is not used for as long as the provider asks', () => {
  const clock = createManualClock();
  const ring = new KeyRing(settings('failover', 'ab'), clock);
  rejectNext(ring, 'limited', 5_000);
  assert.is(take(ring), 'b');
  clock.advance(4_999);
  assert.is(take(ring), 'b');
  clock.advance(1);
  assert.is(take(ring), 'a');
});

test('a shorter wait that is reported later does not shorten a cooldown', () => {
  const clock = createManualClock();
  const ring = new KeyRing(settings('failover', 'a'), clock);
  const pick = ring.pick();
  assert.ok(pick.usable);
  ring.reject(pick.id, 'limited', 100_000);
  ring.reject(pick.id, 'limited', 1_000);
  clock.advance(99_999);
  assert.is(take(ring), 'cooling');
});

test('if all keys are refused it is PROVIDER_001, and if all cool down RATELIMIT_002 with the shortest wait', () => {
  const clock = createManualClock();
  const ring = new KeyRing(settings('failover', 'ab'), clock);
  rejectNext(ring, 'refused');
  rejectNext(ring, 'refused');
  const refused = ring.pick();
  assert.ok(!refused.usable);
  assert.is(keyFault(refused)?.code, 'PROVIDER_001');
  clock.advance(300_000);
  rejectNext(ring, 'limited', 90_000);
  rejectNext(ring, 'limited', 30_500);
  const cooling = ring.pick();
  assert.ok(!cooling.usable);
  assert.is(keyFault(cooling)?.code, 'RATELIMIT_002');
  assert.is(keyFault(cooling)?.retryAfterS, 31);
  assert.is(ring.isUsable(), false);
});

test('a key that this request has tried is not picked again, even without a cooldown', () => {
  const ring = new KeyRing(settings('failover', 'ab'), createManualClock());
  const [a, b] = [ring.pick(), ring.pick()];
  assert.ok(a.usable && b.usable);
  const tried = new Set([a.id]);
  const second = ring.pick(tried);
  assert.ok(second.usable);
  assert.is(second.key.label, 'b');
  tried.add(second.id);
  const none = ring.pick(tried);
  assert.is(labelOf(none), 'tried');
  assert.ok(!none.usable && keyFault(none) === undefined);
});

test('a key keeps its cooldown and its turn over a reload', () => {
  const clock = createManualClock();
  const ring = new KeyRing(settings('roundrobin', 'abc'), clock);
  rejectNext(ring, 'limited');
  ring.configure(settings('roundrobin', 'cab'));
  assert.equal([take(ring), take(ring), take(ring)], ['b', 'c', 'b']);
  ring.configure(settings('failover', 'bd'));
  ring.configure(settings('failover', 'abd'));
  assert.is(take(ring), 'a', 'a key that was removed and added again has no cooldown');
  const late = ring.pick();
  assert.ok(late.usable);
  ring.configure(settings('failover', 'b'));
  ring.reject(late.id, 'refused');
  assert.is(take(ring), 'b', 'a verdict on a removed key affects no other');
});

test('another secret in the same place is another key, and so is the same secret under another scheme', () => {
  const ring = new KeyRing(settings('failover', 'a'), createManualClock());
  rejectNext(ring, 'refused');
  const bearer = { ...key('a'), scheme: 'bearer' as const };
  ring.configure({ ...settings('failover', ''), keys: [bearer] });
  assert.is(take(ring), 'a');
  rejectNext(ring, 'refused');
  ring.configure({ ...settings('failover', ''), keys: [{ ...bearer, secret: 'new' }] });
  assert.is(take(ring), 'a');
});

test('the view shows what happened and no secret', () => {
  const ring = new KeyRing(settings('failover', 'ab'), createManualClock());
  rejectNext(ring, 'refused');
  const view = ring.view();
  assert.equal(view[0], {
    label: 'a',
    state: 'refused',
    waitMs: 300_000,
    picked: 1,
    limited: 0,
    refused: 1,
  });
  assert.not.match(JSON.stringify(view), /secret/);
});

test('an empty ring has no key, and a key that is listed twice counts once', () => {
  const empty = new KeyRing(settings('failover', ''), createManualClock());
  const none = empty.pick();
  assert.ok(!none.usable);
  assert.is(keyFault(none)?.code, 'AUTH_001');
  assert.is(empty.isUsable(), true);
  assert.is(new KeyRing(settings('failover', 'aab'), createManualClock()).view().length, 2);
});

/** A slow model of the key ring: a list of all rejections, searched at each question. */
function model(rotation: KeyRotation, names: string[]) {
  const log: { name: string; how: string; untilMs: number }[] = [];
  let last = names.length - 1;
  const until = (name: string): number =>
    Math.max(-1, ...log.filter((entry) => entry.name === name).map((entry) => entry.untilMs));
  return {
    reject: (name: string, how: string, nowMs: number, waitMs: number) =>
      log.push({ name, how, untilMs: nowMs + waitMs }),
    pick(nowMs: number, excluded: string[]): string {
      const order = names.map(
        (_, i) => names[(rotation === 'failover' ? i : last + 1 + i) % names.length]!,
      );
      const free = order.filter((name) => until(name) <= nowMs);
      const pickedName = free.find((name) => !excluded.includes(name));
      if (pickedName !== undefined) last = names.indexOf(pickedName);
      if (pickedName !== undefined) return pickedName;
      if (free.length > 0) return 'tried';
      const texts = names.map((name) => log.findLast((entry) => entry.name === name)!);
      const limited = texts.filter((entry) => entry.how === 'limited');
      const waiting = limited.length > 0 ? limited : texts;
      const waitMs = Math.min(...waiting.map((entry) => until(entry.name))) - nowMs;
      return `${limited.length > 0 ? 'cooling' : 'refused'} ${waitMs}`;
    },
  };
}

test('the key ring agrees with a plain log of all rejections', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('pick' as const), mask: fc.nat(7) }),
    fc.record({
      do: fc.constant('reject' as const),
      index: fc.nat(2),
      how: fc.constantFrom('limited' as const, 'refused' as const),
      waitMs: fc.option(fc.integer({ min: 1000, max: 600_000 }), { nil: undefined }),
    }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.nat(200_000) }),
  );
  const rotations = fc.constantFrom<KeyRotation>('failover', 'roundrobin');
  fc.assert(
    fc.property(
      rotations,
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 60 }),
      (rotation, count, steps) => {
        const names = ['a', 'b', 'c'].slice(0, count);
        const clock = createManualClock();
        const ring = new KeyRing(settings(rotation, names.join('')), clock);
        const slow = model(rotation, names);
        const ids = names.map((name) => {
          const only = new KeyRing(settings('failover', name), clock).pick();
          return only.usable ? only.id : '';
        });
        for (const one of steps) {
          if (one.do === 'wait') clock.advance(one.ms);
          if (one.do === 'reject' && one.index < count) {
            ring.reject(ids[one.index]!, one.how, one.waitMs);
            const waitMs = one.waitMs ?? (one.how === 'refused' ? 300_000 : 60_000);
            slow.reject(names[one.index]!, one.how, clock.monotonicMs(), waitMs);
          }
          if (one.do !== 'pick') continue;
          const excluded = names.filter((_, i) => (one.mask >> i) % 2 === 1);
          const pick = ring.pick(new Set(excluded.map((name) => ids[names.indexOf(name)]!)));
          const actual =
            pick.usable || pick.why === 'tried' ? labelOf(pick) : `${pick.why} ${pick.waitMs}`;
          assert.is(actual, slow.pick(clock.monotonicMs(), excluded));
        }
      },
    ),
  );
});

test('a key rejected at another proxy cools down here too, is shown, and is not used early', () => {
  const clock = createManualClock();
  const moved: string[] = [];
  const ring = new KeyRing(settings('failover', 'ab'), clock, (id) => moved.push(id));
  const [first = '', second = ''] = ring.ids();
  ring.applyCooldown({ id: first, verdict: 'limited', waitMs: 5000 });
  assert.is(take(ring), 'b');
  ring.applyCooldown({ id: first, verdict: 'refused', waitMs: 1000 });
  assert.equal(ring.coolingDown(), [{ id: first, verdict: 'refused', waitMs: 5000 }]);
  assert.equal([ring.view()[0]?.limited, ring.view()[0]?.refused], [0, 0], 'nothing was counted');
  ring.applyCooldown({ id: 'nobody', verdict: 'limited', waitMs: 5000 });
  ring.applyUsable('nobody');
  assert.equal(moved, []);
  ring.applyUsable(first);
  assert.is(take(ring), 'a');
  ring.reject(second, 'limited');
  ring.reset();
  assert.equal(moved, [second, first, second]);
  assert.equal(ring.coolingDown(), []);
});

test.run();
