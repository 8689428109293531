/** A conversation goes on where its last request is stored as an older version stored it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { requestOf } from '../../fixtures/compress/stage.ts';
import { createBlockHashes } from './block-hashes.ts';
import type { Tail } from './tails.ts';
import { createTurns } from './turns.ts';

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

/** Returns the tails after a request with these messages, given those before it. */
function after(tails: readonly Tail[], body: object): readonly Tail[] {
  let now = tails;
  const store = { get: () => now, set: (_: unknown, next: readonly Tail[]) => void (now = next) };
  const turns = createTurns(store, createBlockHashes(), { wallMs: () => 2000 });
  turns.turnOf(requestOf(body));
  return now;
}

// Hashes that version 0.6.0 stored.
const OLDER = [
  [{ ...withTools, messages: messages.slice(0, 3) }, 4, '8Fys3gtyP7jlkGTq'],
  [{ messages: [first] }, 1, 'Hi_RZIeUQXpL9gXS'],
] as const;

for (const [body, blocks, hash] of OLDER)
  test(`${blocks} blocks`, () => {
    const older = { blocks, hash, atMs: 1000, gaps: 's', goesOn: true };
    const same = after([older], body);
    assert.equal([same.length, same[0]?.goesOn, same[0]?.gaps], [1, true, 's']);
    const longer = after([older], { ...body, messages });
    assert.equal([longer.length, longer[0]?.goesOn, longer[0]?.gaps], [1, true, 'ss']);
    assert.is(longer[0]?.hash, undefined);
    assert.equal(after([{ ...older, hash: 'other' }], body).length, 2);
  });

test.run();
