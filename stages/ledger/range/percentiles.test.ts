/** Percentiles over several lists equal those of one sorted list. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { percentilesOf } from './percentiles.ts';
import type { SortedList } from './percentiles.ts';

const PERCENTS = [1, 50, 95, 99, 100];

const small = fc
  .array(fc.oneof(fc.nat(9), fc.nat(2 ** 32 - 1)), { maxLength: 40 })
  .map((values): SortedList => Uint32Array.from(values).toSorted());
const large = fc
  .array(fc.integer({ min: -5, max: 2 ** 45 }), { maxLength: 40 })
  .map((values): SortedList => Float64Array.from(values).toSorted());

test('percentiles of lists are the nearest ranks of all their values', () => {
  const property = fc.property(fc.array(fc.oneof(small, large), { maxLength: 12 }), (lists) => {
    const all = lists.flatMap((list) => [...list]).toSorted((a, b) => a - b);
    assert.equal(
      percentilesOf(lists, PERCENTS),
      PERCENTS.map((percent) => all[Math.ceil((all.length * percent) / 100) - 1] ?? null),
    );
  });
  fc.assert(property, { numRuns: 500 });
});

test.run();
