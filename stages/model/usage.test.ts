import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyUsage, totalInputTokens } from './usage.ts';

test('the parts of the input do not overlap, so their sum is the total', () => {
  const usage = {
    ...emptyUsage,
    inputTokens: 5,
    cacheReadTokens: 100,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 15,
  };
  assert.is(totalInputTokens(usage), 125);
});

test('nothing measured is not zero', () => {
  assert.is(totalInputTokens(emptyUsage), null);
  assert.is(totalInputTokens({ ...emptyUsage, outputTokens: 9 }), null);
  assert.is(totalInputTokens({ ...emptyUsage, cacheReadTokens: 0 }), 0);
});

test.run();
