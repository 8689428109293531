/**
 * What it costs to check the figures of an answer; `server/tests/money/odd-usage` has the results.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { posted } from '../../fixtures/compress/stage.ts';
import { emptyUsage } from '../model/usage.ts';
import { plausible } from './plausible.ts';

const BODY = Buffer.from(
  JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 8000,
    messages: [{ role: 'user', content: 'Write a long story' }],
  }),
);

/** Checks `outputTokens` for a stream in which 700 were seen. */
function check(outputTokens: number) {
  let estimates = 0;
  const usage = plausible(
    { ...emptyUsage, inputTokens: 12, outputTokens },
    posted('/v1/messages', BODY),
    () => ({
      model: 'claude-sonnet-4-5',
      contextWindow: 200_000,
      streamedTokens() {
        estimates += 1;
        return 700;
      },
    }),
  );
  return { charged: usage.outputTokens, estimates };
}

test('the text of a stream is counted only if a figure is impossible', () => {
  assert.equal(check(7900), { charged: 7900, estimates: 0 });
  assert.equal(check(10 ** 9), { charged: 700, estimates: 1 });
});

test.run();
