import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../engine/index.ts';
import { upstreamTimeout } from '../model/errors.ts';
import { createSplitter } from '../wire/events.ts';
import type { DialectName } from '../model/dialect.ts';
import { dialects } from './registry.ts';

type Verdict = 'held' | 'content';

const EVENTS: readonly (readonly [DialectName, string | undefined, unknown, Verdict])[] = [
  ['messages', 'message_start', { type: 'message_start', message: {} }, 'held'],
  ['messages', 'ping', { type: 'ping' }, 'held'],
  [
    'messages',
    'content_block_start',
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    'held',
  ],
  [
    'messages',
    'content_block_start',
    { type: 'content_block_start', content_block: { type: 'tool_use', name: 'x' } },
    'content',
  ],
  ['messages', undefined, { type: 'content_block_delta', delta: {} }, 'content'],
  ['messages', 'error', { type: 'error' }, 'held'],
  ['chat', undefined, { choices: [{ delta: { role: 'assistant', content: '' } }] }, 'held'],
  [
    'chat',
    undefined,
    { choices: [{ delta: { role: 'assistant', content: null, refusal: null } }] },
    'held',
  ],
  ['chat', undefined, { choices: [], usage: {} }, 'held'],
  ['chat', undefined, { choices: [{ delta: { content: 'a' } }] }, 'content'],
  ['chat', undefined, { choices: [{ delta: { tool_calls: [{}] } }] }, 'content'],
  ['chat', undefined, { choices: [{ delta: { reasoning_content: 'a' } }] }, 'content'],
  ['chat', undefined, { choices: [{ delta: {}, finish_reason: 'stop' }] }, 'content'],
  ['chat', undefined, { choices: [{ text: 'legacy' }] }, 'content'],
  ['responses', 'response.created', { type: 'response.created' }, 'held'],
  ['responses', undefined, { type: 'response.output_item.added' }, 'held'],
  ['responses', 'response.output_text.delta', {}, 'content'],
  ['responses', 'response.failed', {}, 'held'],
  ['responses', 'codex.rate_limits', {}, 'held'],
  ['responses', 'response.newest.delta', {}, 'content'],
  ['generative', undefined, { usageMetadata: {} }, 'held'],
  ['generative', undefined, { candidates: [{ content: { parts: [{ text: '' }] } }] }, 'held'],
  ['generative', undefined, { candidates: [{ content: { parts: [{ text: 'a' }] } }] }, 'content'],
  ['generative', undefined, { candidates: [{ finishReason: 'STOP' }] }, 'content'],
  ['opaque', undefined, {}, 'content'],
];

for (const [name, event, payload, verdict] of EVENTS) {
  test(`${name} ${event ?? ''} ${JSON.stringify(payload)} is ${verdict}`, () => {
    const isContent = dialects[name].isContent(event, JSON.stringify(payload));
    assert.is(isContent ? 'content' : 'held', verdict);
  });
}

test('data that is not JSON is not content in any dialect, and nothing throws', () => {
  for (const name of ['messages', 'chat', 'generative'] as const) {
    for (const data of ['', '[DONE]', 'null', '7', '{"choices":{}}', '{"candidates":[null]}']) {
      assert.not(dialects[name].isContent(undefined, data), `${name} ${data}`);
    }
  }
});

test('every dialect recognises its own error events as failures and never as a proper end', () => {
  const errors = [upstreamTimeout(), new SvcError('unavailable', 'line one\nline "two"')];
  for (const dialect of Object.values(dialects)) {
    for (const error of errors) {
      const bytes = dialect.errorEvent(error, 'req_1');
      const observer = dialect.observeUsage(true);
      observer.push(Buffer.from('data: {"choices":[]}\n\n'));
      observer.push(bytes);
      assert.ok(observer.failed(), dialect.name);
      const pieces = createSplitter().push(bytes);
      assert.is(pieces.length, 1, 'one event, complete');
      const body = JSON.parse(pieces[0]!.data!) as { error: { message: string } };
      assert.is(body.error.message, error.message);
      assert.ok(pieces[0]!.data!.includes('req_1'));
    }
  }
});

test('keys are sent in the headers of their dialect', () => {
  const { messages, chat, generative } = dialects;
  assert.equal(messages.keyHeaders('k', 'key'), ['x-api-key', 'k']);
  assert.equal(messages.keyHeaders('k', 'bearer'), ['authorization', 'Bearer k']);
  assert.equal(chat.keyHeaders('k', 'key'), ['authorization', 'Bearer k']);
  assert.equal(generative.keyHeaders('k', 'key'), ['x-goog-api-key', 'k']);
  assert.equal(generative.keyHeaders('k', 'bearer'), ['authorization', 'Bearer k']);
});

test.run();
