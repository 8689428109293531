/** Requests, in each dialect, after which the provider may drop what it was sent. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mayForget } from './may-forget.ts';

const FORGETTING: Readonly<Record<string, object>> = {
  'context edits': { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
  'an edit that is not known': { context_management: [{ type: 'compaction' }] },
  'an order to sum up': { compaction: { type: 'summarize' } },
  'a thread': { thread: { type: 'continue', previous_message_id: 'msg_1' } },
  'a stored response': { previous_response_id: 'resp_1' },
  'a stored conversation': { conversation: 'conv_1' },
  truncation: { truncation: 'auto' },
  'what a compaction left, as a block': {
    messages: [
      { role: 'assistant', content: [{ type: 'compaction', content: 'c', signature: 's' }] },
    ],
  },
  'what a compaction left, as an item': { input: [{ type: 'compaction', encrypted_content: 'e' }] },
  'the summary that Codex sends': {
    input: [{ type: 'compaction_summary', encrypted_content: 'e' }],
  },
};

for (const [what, body] of Object.entries(FORGETTING))
  test(`may drop earlier turns: ${what}`, () => assert.ok(mayForget(body)));

test('treats every other request as keeping the conversation', () => {
  for (const body of [
    { messages: [{ role: 'user', content: 'Do the compaction.' }], thread: null, compaction: null },
    { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } },
    { truncation: 'disabled', input: [{ type: 'message', role: 'user', content: 'x' }] },
    undefined,
  ])
    assert.not.ok(mayForget(body));
});

test.run();
