/** A span is divided without gaps, into aligned units that never cross a step. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS, divide, lengthsWithin, MINUTE_MS } from './units.ts';
import { HOUR_MS } from '../hours.ts';

const START = Date.UTC(2026, 10, 20);
const STEPS_MS = [10_000, 90_000, MINUTE_MS, 7 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 7 * DAY_MS];
const anyTime = fc.integer({ min: START, max: START + 9 * DAY_MS });

test('pieces cover the span once, and units are aligned, inside a step and settled', () => {
  const property = fc.property(
    anyTime,
    anyTime,
    anyTime,
    fc.constantFrom(...STEPS_MS),
    (fromMs, toMs, settledMs, stepMs) => {
      const lengths = lengthsWithin(stepMs, settledMs);
      const { units, ends } = divide({ fromMs, toMs }, lengths);
      const pieces = [...units, ...ends].toSorted((a, b) => a.fromMs - b.fromMs);
      let reachedMs = fromMs;
      for (const piece of pieces) {
        assert.is(piece.fromMs, reachedMs);
        assert.ok(piece.toMs > piece.fromMs);
        reachedMs = piece.toMs;
      }
      assert.is(reachedMs, Math.max(fromMs, fromMs >= toMs ? fromMs : toMs));
      for (const { lengthMs, ...unit } of units) {
        assert.is(unit.fromMs % lengthMs, 0);
        assert.is(unit.toMs % lengthMs, 0);
        assert.is(stepMs % lengthMs, 0);
        assert.ok(unit.toMs <= lengths.find((one) => one.lengthMs === lengthMs)!.endMs);
      }
      const shortestMs = lengths.at(-1)!.lengthMs;
      for (const end of ends)
        assert.is(
          Math.floor(end.fromMs / shortestMs),
          Math.floor((end.toMs - 1) / shortestMs),
          'an end is a part of one unit',
        );
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test('a week in steps of six hours has hours, and minutes at its ends', () => {
  const toMs = START + 8 * DAY_MS + 90 * MINUTE_MS;
  const { units, ends } = divide(
    { fromMs: toMs - 7 * DAY_MS - 1, toMs },
    lengthsWithin(6 * HOUR_MS, toMs - HOUR_MS),
  );
  const counts = units.map((some) => [some.lengthMs, (some.toMs - some.fromMs) / some.lengthMs]);
  assert.equal(counts, [
    [MINUTE_MS, 30],
    [HOUR_MS, 166],
    [MINUTE_MS, 90],
  ]);
  assert.equal(ends, [{ fromMs: toMs - 7 * DAY_MS - 1, toMs: toMs - 7 * DAY_MS }]);
});

test.run();
