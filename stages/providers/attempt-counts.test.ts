/**
 * Attempts at a provider: the last hour, failures in a row, and providers that were never called.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { createAttemptCounts } from './attempt-counts.ts';

test('the last hour is counted minute by minute, and older attempts are dropped', () => {
  const clock = createManualClock();
  const counts = createAttemptCounts(clock);
  assert.equal(counts.view(), {
    everTried: 0,
    tried: 0,
    failed: 0,
    failedInRow: 0,
    answeredByOthers: 0,
  });
  counts.ended(true);
  counts.answeredByAnother();
  clock.advance(30 * 60_000);
  counts.ended(true);
  counts.ended(true);
  assert.equal(counts.view(), {
    everTried: 3,
    tried: 3,
    failed: 3,
    failedInRow: 3,
    answeredByOthers: 1,
  });
  clock.advance(31 * 60_000);
  assert.equal(counts.view(), {
    everTried: 3,
    tried: 2,
    failed: 2,
    failedInRow: 3,
    answeredByOthers: 0,
  });
  counts.ended(false);
  assert.is(counts.view().failedInRow, 0);
  clock.advance(120 * 60_000);
  assert.is(counts.view().tried, 0);
  assert.is(counts.view().everTried, 4);
});

test.run();
