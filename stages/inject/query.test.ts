import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dialects } from '../dialect/registry.ts';
import { ADDED_MARK } from './injection.ts';
import { queryOf } from './query.ts';
import { questionsOf } from './questions.ts';

const questions = (messages: readonly object[], system?: unknown) =>
  questionsOf(dialects.messages.blocks({ model: 'm', max_tokens: 1, system, messages }));

const ask = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

test('treats every user message with its own text as a question, and the newest as the current one', () => {
  const found = questions([
    ask('first?'),
    assistant('yes'),
    ask([{ type: 'text', text: 'second?' }]),
  ]);
  assert.equal(
    found.map(({ message, texts, isLast }) => [message, texts[0], isLast]),
    [
      [0, 'first?', false],
      [2, 'second?', true],
    ],
  );
});

test('does not treat a message with tool results as a question, even with text after them', () => {
  const result = { type: 'tool_result', tool_use_id: 't', content: 'out' };
  const use = assistant([{ type: 'tool_use', id: 't', name: 'x', input: {} }]);
  assert.is(questions([ask('q'), use, ask([result])]).length, 1);
  assert.is(questions([ask('q'), use, ask([result, { type: 'text', text: 'go on' }])]).length, 1);
});

test('identifies a question by everything before it, and nothing after it', () => {
  const one = questions([ask('a'), assistant('b'), ask('c')]);
  const grown = questions([ask('a'), assistant('b'), ask('c'), assistant('d'), ask('e')]);
  assert.equal(
    grown.slice(0, 2).map((each) => each.prefix),
    one.map((each) => each.prefix),
  );
  const other = questions([ask('a'), assistant('B'), ask('c')]);
  assert.is(other[0]?.prefix, one[0]?.prefix);
  assert.is.not(other[1]?.prefix, one[1]?.prefix);
});

test('ignores the billing block, which changes with every request', () => {
  const billing = (cch: string) => [
    { type: 'text', text: `x-anthropic-billing-header: cc_version=2; cch=${cch};` },
    { type: 'text', text: 'You are an agent.' },
  ];
  assert.is(
    questions([ask('a')], billing('1'))[0]?.prefix,
    questions([ask('a')], billing('2'))[0]?.prefix,
  );
});

test('ignores moved cache markers', () => {
  const text = { type: 'text', text: 'a' };
  const marked = { ...text, cache_control: { type: 'ephemeral' } };
  assert.is(questions([ask([text])])[0]?.prefix, questions([ask([marked])])[0]?.prefix);
});

test('ignores reasoning that a client drops from later turns', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
  const answered = (content: unknown) =>
    questions([ask('a'), assistant(content), ask('b')])[1]?.prefix;
  const text = { type: 'text', text: 'x' };
  assert.is(answered([thinking, text]), answered([text]));
});

test('ignores tool output that a client clears later, but not its call', () => {
  const after = (id: string, content: string) => {
    const use = assistant([{ type: 'tool_use', id, name: 'x', input: {} }]);
    const result = ask([{ type: 'tool_result', tool_use_id: id, content }]);
    return questions([ask('a'), use, result, assistant('b'), ask('c')])[1]?.prefix;
  };
  assert.is(after('t1', 'long output'), after('t1', '[cleared]'));
  assert.is.not(after('t1', 'out'), after('t2', 'out'));
});

test('keeps the last question current when a system reminder follows it', () => {
  const blocks = dialects.chat.blocks({
    messages: [ask('where?'), { role: 'system', content: 'be brief' }],
  });
  assert.equal(
    questionsOf(blocks).map(({ isLast }) => isLast),
    [true],
  );
});

const queryFor = (...texts: string[]) => queryOf(texts);

test('removes reminders that a program adds to the user’s text', () => {
  const cases: [string, string | undefined][] = [
    ['<system-reminder>today is …</system-reminder>', undefined],
    ['<system-reminder>a</system-reminder>\nwhere is the gate?', 'where is the gate?'],
    ['<environment_context>\n<cwd>/x</cwd>\n</environment_context>', undefined],
    ['# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nrun tests\n</INSTRUCTIONS>', undefined],
    ['<additional_data>…</additional_data>\n<user_query>\nwhere?\n</user_query>', 'where?'],
    [
      '<task>\nmend the gate\n</task>\n<environment_details>…</environment_details>',
      'mend the gate',
    ],
    ['<command-name>/fix</command-name> <command-args>the gate</command-args>', 'the gate'],
    ['<rules>\n<task>mend</task>\n</rules>', 'mend'],
    ['what is <T extends U> in <rules> here?', 'what is <T extends U> in <rules> here?'],
  ];
  for (const [text, query] of cases) assert.is(queryFor(text), query, text);
  assert.is(queryFor('<system-reminder>r</system-reminder>', 'one', 'two'), 'one\ntwo');
});

test('ignores tool output in a user text, but not the user’s words about it', () => {
  const output = "[read_file for 'gate.ts'] Result:";
  assert.is(queryFor(output, 'export const gate = 1;'), undefined);
  assert.is(queryFor(output, '<feedback>not that gate</feedback>'), 'not that gate');
});

test('keeps the question around sections that a user writes into it', () => {
  assert.is(
    queryFor('why does <task>foo</task> fail in the gate?'),
    'why does  fail in the gate?\nfoo',
  );
});

test('finds no query in a turn that only says to continue', () => {
  for (const text of ['continue', 'Yes, please.', 'ok, go ahead', '…', '👍', "Let's go!"]) {
    assert.is(queryFor(text), undefined, text);
  }
  for (const text of ['gate', 'continue with the gate', 'run compileGraph', 'как']) {
    assert.is(queryFor(text), text);
  }
});

test('searches for both ends of a long text', () => {
  const query = queryFor(`explain zebra${'\nfiller line'.repeat(500)}\nand quagga`) ?? '';
  assert.ok(query.startsWith('explain zebra') && query.endsWith('and quagga'));
  assert.ok(query.length <= 2001);
});

test('adds nothing to a question that another svc has added to', () => {
  assert.is(queryFor(`where?\n\n${ADDED_MARK} …`), undefined);
});

test.run();
