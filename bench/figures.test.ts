import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isSettled,
  median,
  medianDifference,
  medianRatio,
  quantile,
  quantiles,
  upperMedian,
} from './figures.ts';

const oneToHundred = Array.from({ length: 100 }, (_, index) => index + 1);

test('a quantile is the measured value at the nearest rank', () => {
  assert.is(quantile(oneToHundred, 0.5), 50);
  assert.is(quantile(oneToHundred, 0.99), 99);
  assert.is(quantile(oneToHundred, 1), 100);
  assert.is(quantile(oneToHundred, 0), 1);
  assert.is(quantile([7], 0.99), 7);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});

test('quantiles sort by value, not as text, and do not modify their input', () => {
  const samples = [100, 9, 20];
  assert.equal(quantiles(samples), { p50: 20, p95: 100, p99: 100 });
  assert.equal(samples, [100, 9, 20]);
});

test('the median of an even number of values is the mean of the middle two', () => {
  assert.is(median([10, 1, 2]), 2);
  assert.is(median([4, 1, 10, 2]), 3);
  assert.ok(Number.isNaN(median([])));
});

test('the upper confidence limit of a median lies above it and is one of the values', () => {
  const values = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.9];
  const upper = upperMedian(values);
  assert.ok(upper > median(values) && upper < 0.9, `${upper}`);
  assert.ok(values.includes(upper), `${upper}`);
  assert.is(upperMedian(values), upper);
  assert.is(upperMedian([0.5, 0.5, 0.5]), 0.5);
  assert.ok(Number.isNaN(upperMedian([])));
});

test('differences and ratios are taken within a round before the median is taken', () => {
  // The machine is slower by ten in the second round; the difference stays the same.
  assert.is(medianDifference([3, 13, 4], [1, 11, 2]), 2);
  assert.is(medianRatio([2, 30, 4], [1, 10, 4]), 2);
  assert.throws(() => medianRatio([1], [1, 2]), /1 rounds against 2/);
});

test('a rate has settled when its newest values are close to each other', () => {
  assert.not(isSettled([100, 100], 3, 0.05));
  assert.not(isSettled([10, 100, 100], 3, 0.05));
  assert.ok(isSettled([10, 100, 97, 99], 3, 0.05));
  assert.not(isSettled([100, 90, 100], 3, 0.05));
});

test.run();
