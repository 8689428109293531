import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from '../dialect/registry.ts';
import { questionsOf, readInjection } from './query.ts';

const questions = (messages: readonly object[], system?: unknown) =>
  questionsOf(dialects.messages.blocks({ model: 'm', max_tokens: 1, system, messages }));

const ask = (content: unknown) => ({ role: 'user', content });
const say = (content: unknown) => ({ role: 'assistant', content });

test('every user message with words of its own is a question; the newest is being asked', () => {
  const found = questions([ask('first?'), say('yes'), ask([{ type: 'text', text: 'second?' }])]);
  assert.equal(
    found.map(({ message, query, isLast }) => [message, query, isLast]),
    [
      [0, 'first?', false],
      [2, 'second?', true],
    ],
  );
});

test('a message that answers tool calls is no question, even with text behind it', () => {
  const result = { type: 'tool_result', tool_use_id: 't', content: 'out' };
  const use = say([{ type: 'tool_use', id: 't', name: 'x', input: {} }]);
  assert.is(questions([ask('q'), use, ask([result])]).length, 1);
  assert.is(questions([ask('q'), use, ask([result, { type: 'text', text: 'go on' }])]).length, 1);
});

test("a program's own reminders are not what the user asked", () => {
  const [found] = questions([
    ask([
      { type: 'text', text: '<system-reminder>today is …</system-reminder>' },
      { type: 'text', text: 'where is the gate?' },
    ]),
  ]);
  assert.is(found?.query, 'where is the gate?');
});

test('a question is named by all that stands before it, and by nothing that follows', () => {
  const one = questions([ask('a'), say('b'), ask('c')]);
  const grown = questions([ask('a'), say('b'), ask('c'), say('d'), ask('e')]);
  assert.equal(
    grown.slice(0, 2).map((each) => each.prefix),
    one.map((each) => each.prefix),
  );
  const other = questions([ask('a'), say('B'), ask('c')]);
  assert.is(other[0]?.prefix, one[0]?.prefix);
  assert.is.not(other[1]?.prefix, one[1]?.prefix);
});

test('the billing block, which changes in every request, does not count', () => {
  const billing = (cch: string) => [
    { type: 'text', text: `x-anthropic-billing-header: cc_version=2; cch=${cch};` },
    { type: 'text', text: 'You are an agent.' },
  ];
  assert.is(
    questions([ask('a')], billing('1'))[0]?.prefix,
    questions([ask('a')], billing('2'))[0]?.prefix,
  );
});

test('a moved cache marker does not count', () => {
  const text = { type: 'text', text: 'a' };
  const marked = { ...text, cache_control: { type: 'ephemeral' } };
  assert.is(questions([ask([text])])[0]?.prefix, questions([ask([marked])])[0]?.prefix);
});

test('only what was written as an injection is read as one', () => {
  const injection = { text: 't', ids: ['a'], tokens: 3 };
  assert.equal(readInjection(JSON.stringify(injection)), injection);
  for (const text of [undefined, '', '{', '[]', '{"text":1}', '{"text":"t","ids":{},"tokens":1}']) {
    assert.is(readInjection(text), undefined);
  }
});

test.run();
