/** A conversation is continued even if an older version stored its last request. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { requestOf } from '../../fixtures/compress/stage.ts';
import { createConversations } from './conversations.ts';
import { createStore } from './store.ts';
import type { Tail } from './tails.ts';

const result = (id: string): object => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: `What ${id} has printed.` }],
});
const call = (id: string): object => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'Read', input: {} }],
});
const first = { role: 'user', content: 'Go on.' };
const messages = [first, call('t1'), result('t1'), call('t2'), result('t2')];
const withTools = { system: 'Be brief.', tools: [{ name: 'Read', input_schema: {} }] };

/** Returns the tails after a request with this body, given one before it. */
function after(before: Tail, body: object): readonly Tail[] {
  const clock = createManualClock();
  const conversations = createConversations({ store: createStore(clock), clock, version: 1 });
  const request = requestOf(body);
  const memory = conversations.memoryOf(request);
  memory.set({ tails: [before] });
  conversations.turnOf(request);
  return memory.record.tails;
}

// Hashes that version 0.6.0 stored.
const OLDER = [
  [{ ...withTools, messages: messages.slice(0, 3) }, 4, '8Fys3gtyP7jlkGTq'],
  [{ messages: [first] }, 1, 'Hi_RZIeUQXpL9gXS'],
] as const;

for (const [body, blocks, hash] of OLDER)
  test(`continues the earlier turn of a conversation with ${blocks} blocks`, () => {
    const older = { blocks, hash, atMs: 1000, gaps: 's', goesOn: true };
    const same = after(older, body);
    assert.equal([same.length, same[0]?.goesOn, same[0]?.gaps], [1, true, 's']);
    const longer = after(older, { ...body, messages });
    assert.equal([longer.length, longer[0]?.goesOn, longer[0]?.gaps], [1, true, 'sl']);
    assert.is(longer[0]?.hash, undefined);
    assert.is(after({ ...older, hash: 'other' }, body).length, 2);
  });

test.run();
