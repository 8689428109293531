/**
 * Attempts at a provider: the last hour, failures in a row, and providers that were never called.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { createAttemptCounts } from './attempt-counts.ts';

test('the last hour is counted minute by minute, and older attempts are dropped', () => {
  const clock = createManualClock();
  const tries = createAttemptCounts(clock);
  assert.equal(tries.view(), {
    everTried: 0,
    tried: 0,
    failed: 0,
    failedInRow: 0,
    answeredByOthers: 0,
  });
  tries.ended(true);
  tries.answeredByAnother();
  clock.advance(30 * 60_000);
  tries.ended(true);
  tries.ended(true);
  assert.equal(tries.view(), {
    everTried: 3,
    tried: 3,
    failed: 3,
    failedInRow: 3,
    answeredByOthers: 1,
  });
  clock.advance(31 * 60_000);
  assert.equal(tries.view(), {
    everTried: 3,
    tried: 2,
    failed: 2,
    failedInRow: 3,
    answeredByOthers: 0,
  });
  tries.ended(false);
  assert.is(tries.view().failedInRow, 0);
  clock.advance(120 * 60_000);
  assert.is(tries.view().tried, 0);
  assert.is(tries.view().everTried, 4);
});

test.run();
