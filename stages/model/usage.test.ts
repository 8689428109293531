import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyUsage, totalInputTokens } from './usage.ts';

test('adds up the parts of the input, which do not overlap', () => {
  const usage = {
    ...emptyUsage,
    inputTokens: 5,
    cacheReadTokens: 100,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 15,
  };
  assert.is(totalInputTokens(usage), 125);
});

test('distinguishes no measurement from zero', () => {
  assert.is(totalInputTokens(emptyUsage), null);
  assert.is(totalInputTokens({ ...emptyUsage, outputTokens: 9 }), null);
  assert.is(totalInputTokens({ ...emptyUsage, cacheReadTokens: 0 }), 0);
});

test.run();
