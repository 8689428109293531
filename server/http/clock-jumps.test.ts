/** A wall clock that is set by a time server or by hand: waits use the monotonic clock. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { Breaker } from '../../stages/providers/breaker.ts';
import { KeyRing } from '../../stages/providers/keys.ts';
import { createRateLimiter } from './limit.ts';

const HOUR_MS = 3_600_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS, -40 * 365 * 24 * HOUR_MS];

/**
 * Returns a limiter's, a breaker's and a key ring's decisions by minute; `jumpMs` is added to the
 * wall clock after the first.
 */
function decisions(jumpMs: number): readonly unknown[] {
  const manual = createManualClock();
  let addedMs = 0;
  const clock = { ...manual, wallMs: () => manual.wallMs() + addedMs };
  const limiter = createRateLimiter({ perMinute: 3, clock });
  const breaker = new Breaker(clock);
  const key = (label: string) => ({ secret: `secret-${label}`, scheme: 'key', label }) as const;
  const ring = new KeyRing(
    {
      rotation: 'failover',
      keys: [key('a'), key('b')],
      cooldown429Ms: 60_000,
      cooldown401Ms: 300_000,
    },
    clock,
  );
  const logged: unknown[] = [];
  for (let minute = 0; minute < 8; minute += 1) {
    for (let n = 0; n < 5; n += 1) {
      const { isAllowed, retryAfterS } = limiter.take('somebody')!;
      logged.push([isAllowed, retryAfterS]);
    }
    if (minute === 0) {
      for (let n = 0; n < 5; n += 1) {
        const pass = breaker.tryEnter();
        if (pass.ok) pass.settle('failed');
      }
      const pick = ring.pick();
      if (pick.usable) ring.reject(pick.id, 'refused');
      addedMs = jumpMs;
    }
    const pick = ring.pick();
    logged.push(breaker.view(), pick.usable ? pick.key.label : pick.why);
    manual.advance(20_000);
    logged.push(breaker.view().state);
    manual.advance(40_000);
  }
  return logged;
}

test('a change of the system clock affects no limit, breaker or key cooldown', () => {
  const undisturbed = decisions(0);
  assert.ok(
    undisturbed.includes('b') && undisturbed.includes('a'),
    'the key cools down and is used again',
  );
  for (const jumpMs of JUMPS_MS) assert.equal(decisions(jumpMs), undisturbed, `${jumpMs} ms`);
});

test.run();
