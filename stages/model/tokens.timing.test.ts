import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { measureGrowth, MOST_GROWTH } from '../../fixtures/growth.ts';
import { loadTokenCounter } from './count-tokens.ts';

/** Of all words of 25,000 characters. */
const LIMIT_MS = 3000;

test('a text that is one long word is counted in linear time', async () => {
  const words = ['a', ' ', '-', '\u{1f600}', '\u4e2d'];
  for (const family of ['o200k', 'claude'] as const) {
    const count = await loadTokenCounter(family);
    const { ratio, fourMs } = measureGrowth(
      (size) => words.map((word) => word.repeat(size * 6250)),
      (texts) => texts.forEach(count),
    );
    assert.ok(ratio < MOST_GROWTH, `${family}: ${ratio} times`);
    assert.ok(fourMs < LIMIT_MS, `${family}: ${fourMs} ms`);
  }
});

test.run();
