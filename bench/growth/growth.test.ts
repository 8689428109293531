import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fittedExponent } from './fit.ts';
import { growthText, judgeGrowth, measurePoints } from './table.ts';
import type { GrowthTable } from './table.ts';

const SIZES = [1, 10, 100, 1000];
const pointsOf = (costOf: (size: number) => number) =>
  SIZES.map((size) => ({ size, cost: costOf(size) }));
const tableOf = (growth: GrowthTable['growth'], costOf: (size: number) => number, from = 0) => ({
  name: 'bodies',
  about: 'of any kind',
  sizes: 'bytes',
  cost: 'a request',
  growth,
  from,
  points: pointsOf(costOf),
});

test('the exponent is 0 for flat, 1 for linear and 2 for quadratic costs', () => {
  for (const exponent of [0, 0.5, 1, 2]) {
    const found = fittedExponent(pointsOf((size) => 3 * size ** exponent));
    assert.ok(Math.abs(found - exponent) < 1e-9, `${found} for ${exponent}`);
  }
});

test('without an exponent the bar is missed', () => {
  assert.ok(Number.isNaN(fittedExponent([])));
  assert.ok(Number.isNaN(fittedExponent([{ size: 1, cost: 1 }])));
  assert.ok(Number.isNaN(fittedExponent(pointsOf((size) => size - 1))));
  assert.is(judgeGrowth(tableOf('linear', () => -1)).met, false);
});

test('linear costs miss the bar for flat, quadratic costs the one for linear', () => {
  assert.is(judgeGrowth(tableOf('flat', () => 5)).met, true);
  assert.is(judgeGrowth(tableOf('flat', (size) => size)).met, false);
  assert.is(judgeGrowth(tableOf('linear', (size) => size)).met, true);
  assert.is(judgeGrowth(tableOf('linear', (size) => size ** 2)).met, false);
});

test('sizes below `from` are printed but not fitted', () => {
  const table = tableOf('linear', (size) => (size < 10 ? 1e-9 : size), 10);
  assert.is(judgeGrowth(table).met, true);
  const text = growthText(table);
  assert.match(text, /bodies: exponent from 10 on: 1\.000 x \(bar ≤ 1\.1 x\)/);
  assert.match(text, /1,000 +1000\.00 +1000\.000/);
});

test('sizes are measured in alternating order, and the median is the cost', async () => {
  const order: number[] = [];
  const points = await measurePoints([{ size: 1 }, { size: 2 }], 3, ({ size }, round) => {
    order.push(size);
    return Promise.resolve(size * 10 + round);
  });
  assert.equal(order, [1, 2, 2, 1, 1, 2]);
  assert.equal(points, [
    { size: 1, cost: 11 },
    { size: 2, cost: 21 },
  ]);
});

test.run();
