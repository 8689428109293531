/** What providers report about their prompt caches, in documents and in streams. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from './registry.ts';

function missIn(dialect: 'messages' | 'responses', isStream: boolean, text: string): unknown {
  const observer = dialects[dialect].observeUsage(isStream);
  observer.push(Buffer.from(text));
  observer.ended?.();
  return observer.usage().cacheMiss;
}

const filler = 'x'.repeat(40_000);
const usage = { input_tokens: 9, output_tokens: 1 };
const diagnostics = {
  cache_miss_reason: { type: 'tools_changed', cache_missed_input_tokens: 1234 },
};
const NAMED = { reason: 'tools_changed', missedTokens: 1234 };

test('Anthropic reports the cause in the message, or in the event that begins it', () => {
  const message = { id: 'm', model: 'claude-sonnet-5', content: [{ type: 'text', text: filler }] };
  assert.equal(
    missIn('messages', false, JSON.stringify({ ...message, diagnostics, usage })),
    NAMED,
  );
  const event = { type: 'message_start', message: { ...message, content: [], diagnostics, usage } };
  const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
  const stream = [event, delta]
    .map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)
    .join('');
  assert.equal(missIn('messages', true, stream), NAMED);
});

test('OpenAI reports the cause in the response, or in the event that ends it', () => {
  const named = { type: 'cache_miss', reason: 'tools_changed', cache_missed_tokens: 1234 };
  const response = {
    id: 'r',
    model: 'gpt-5.6',
    output: [{ type: 'message', content: [{ type: 'output_text', text: filler }] }],
    prompt_cache_diagnostics: named,
    usage,
  };
  assert.equal(missIn('responses', false, JSON.stringify(response)), NAMED);
  const event = { type: 'response.completed', response };
  const stream = `event: response.completed\ndata: ${JSON.stringify(event)}\n\n`;
  assert.equal(missIn('responses', true, stream), NAMED);
});

test('a cache hit and a request without diagnostics have no cause', () => {
  for (const named of [null, {}, { cache_miss_reason: null }, { type: 'cache_hit' }, 'x'])
    assert.is(
      missIn('messages', false, JSON.stringify({ id: 'm', diagnostics: named, usage })),
      undefined,
    );
});

test.run();
