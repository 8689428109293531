/** The check over recorded traffic must be able to fail. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changesOutside, openTexts, structureOf } from './untouched.corpus.ts';

const LONG = `${'A line that was pasted.\n'.repeat(120)}\nWhat does it say?`;
const BODY = {
  model: 'm',
  temperature: 1.5,
  system: 'Be kind.',
  messages: [
    { role: 'user', content: LONG },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm \u00e9.', signature: 's' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          content: 'a\nb',
          cache_control: { type: 'ephemeral' },
        },
        { type: 'tool_result', tool_use_id: 't0', is_error: true, content: 'no such file' },
        { type: 'text', text: 'short' },
      ],
    },
  ],
};
const TEXT = JSON.stringify(BODY);
const OPEN = openTexts('messages', BODY);

/** What is found where `from` has become `to`. */
function found(from: string, to: string): readonly string[] {
  assert.ok(TEXT.includes(from), from);
  return changesOutside(Buffer.from(TEXT), Buffer.from(TEXT.replace(from, () => to)), OPEN);
}

test('only pasted text and results that are no short errors are open', () => {
  assert.equal(
    OPEN.map(({ place }) => place),
    ['messages/0/content', 'messages/2/content/0/content'],
  );
  assert.equal(found('"a\\nb"', '"c"'), []);
  assert.equal(found('A line that was pasted.\\n', ''), []);
});

test('every other byte is reported, with its place', () => {
  const cases = [
    ['"m"', '"n"', 'model'],
    ['1.5', '1.50', 'model'],
    ['Be kind.', 'Be kind', 'system'],
    ['"Hm \u00e9."', '"Hm \\u00e9."', 'messages/1/content/0/thinking'],
    ['{"command":"ls"}', '{"command":"ls" }', 'messages/1/content/1/input/command'],
    ['no such file', 'no file', 'messages/2/content/1/content'],
    ['"short"', '"shor"', 'messages/2/content/2/text'],
    [',"cache_control":{"type":"ephemeral"}', '', ''],
  ] as const;
  for (const [from, to, place] of cases) {
    const faults = found(from, to);
    assert.is(faults.length, 1, from);
    assert.match(faults[0]!, `${place}`);
  }
  assert.match(found('What does it say?', 'What is it?')[0]!, 'the last paragraph');
});

test('pairs and markers are read in order', () => {
  const { pairing, answered, markers } = structureOf(BODY);
  assert.equal(pairing.length, 3);
  assert.is(answered, 1);
  assert.equal(markers, ['/messages/2/content/0 {"type":"ephemeral"}']);
  const chat = {
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: {} }] },
      { role: 'tool', tool_call_id: 'c', content: '' },
    ],
  };
  assert.is(structureOf(chat).answered, 1);
  const responses = {
    input: [
      { type: 'function_call', call_id: 'c' },
      { type: 'function_call_output', call_id: 'c' },
    ],
  };
  assert.is(structureOf(responses).answered, 1);
});

test.run();
