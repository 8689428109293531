import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateTokens } from '../../model/tokens.ts';
import { createBlockCache } from './cache.ts';
import { compressConversation, emptyState } from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import { hasMark } from '../text/has-mark.ts';
import { splitPasted } from './user-text.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import { CONVERSATION, LOG, PROSE, SOURCE } from '../../../fixtures/compress/texts.ts';
import { restoreReferences } from '../decode/decoders.ts';

const OPTIONS = { ...CONVERSATION, thresholdTokens: 500, userProse: true };

const JSON_ROWS = JSON.stringify(
  Array.from({ length: 60 }, (_, id) => ({
    id,
    name: `item ${id}`,
    state: id % 9 === 0 ? 'error' : 'ok',
    tags: ['a', 'b'],
  })),
  null,
  2,
);
function conversation(): ConversationBlock[] {
  const parts: Omit<ConversationBlock, 'index'>[] = [
    { role: 'system', kind: 'other', text: 'Be brief.' },
    { role: 'user', kind: 'user_text', message: 0, text: 'Why does the build fail?' },
    {
      role: 'user',
      kind: 'tool_result',
      text: LOG,
      toolName: 'bash',
      toolInput: { command: 'npm run build' },
    },
    { role: 'assistant', kind: 'other', text: SOURCE },
    {
      role: 'user',
      kind: 'tool_result',
      text: SOURCE,
      toolName: 'read',
      toolInput: { path: 'a.ts' },
    },
    { role: 'user', kind: 'tool_result', text: JSON_ROWS, toolName: 'list', isError: true },
    { role: 'user', kind: 'tool_result', text: JSON_ROWS, toolName: 'list' },
    {
      role: 'user',
      kind: 'tool_result',
      text: JSON_ROWS,
      toolName: 'list',
      protectedReason: 'document',
    },
    {
      role: 'user',
      kind: 'user_text',
      message: 8,
      text: `Notes:\n\n${PROSE}\n\nWhich bridge was lost in 1812?`,
    },
    {
      role: 'user',
      kind: 'tool_result',
      text: SOURCE,
      toolName: 'read',
      toolInput: { path: 'a.ts' },
    },
    {
      role: 'user',
      kind: 'tool_result',
      text: `${SOURCE}\n${LOG}`,
      toolName: 'bash',
      toolInput: { command: 'cat all' },
    },
  ];
  return parts.map((part, index) => ({ index, ...part }));
}

test('leaves protected blocks unchanged and compresses the others', () => {
  const blocks = conversation();
  const out = compressConversation(blocks, OPTIONS);
  const changed = out.filter((outcome) => outcome.changed).map((outcome) => outcome.index);
  assert.equal(changed, [2, 6, 8, 9, 10]);
  assert.equal(
    [0, 1, 3, 4, 5, 7].map((at) => out[at]!.reason),
    ['kind', 'below-threshold', 'kind', 'no-gain', 'error-result', 'document'],
  );
  assert.match(out[2]!.text, 'error TS2322');
  assert.match(out[9]!.text, '[svc result 2 (a.ts), ');
  assert.ok(out[8]!.text.startsWith('Notes:\n\n'));
  assert.ok(out[8]!.text.endsWith('\n\nWhich bridge was lost in 1812?'));
  assert.match(out[8]!.text, 'In the year 1812 the town');
  for (const outcome of out) {
    assert.ok(outcome.text.trim() !== '');
    assert.ok(estimateTokens(outcome.text) <= outcome.tokensBefore);
  }
});

test('gives every prefix of a conversation the same bytes: alone, with caches, after a restart', async () => {
  const blocks = conversation();
  const whole = compressConversation(blocks, OPTIONS).map((outcome) => outcome.text);
  const cache = createBlockCache(100);
  const compressor = createConversationCompressor(100);
  for (let end = 1; end <= blocks.length; end++) {
    const part = blocks.slice(0, end);
    const expected = whole.slice(0, end);
    for (const out of [
      compressConversation(part, OPTIONS),
      compressConversation(part, OPTIONS, createBlockCache(0)),
      compressConversation(part, OPTIONS, cache),
      await compressor.compress({ blocks: part, options: OPTIONS, conversation: 'c' }),
    ]) {
      assert.equal(
        out.map(({ text }, at) => text ?? part[at]!.text),
        expected,
      );
    }
  }
});

test('keeps branches of a remembered conversation separate', async () => {
  const blocks = conversation();
  const jobOf = (part: typeof blocks) => ({ blocks: part, options: OPTIONS, conversation: 'c' });
  const compressor = createConversationCompressor(100);
  await compressor.compress(jobOf(blocks.slice(0, 9)));
  await compressor.compress(jobOf(blocks));
  const branch = jobOf([...blocks.slice(0, 9), { ...blocks[9]!, text: LOG }]);
  const fresh = await createConversationCompressor(0).compress(branch);
  assert.equal(await compressor.compress(branch), fresh);
});

test('applies a question added to a message to the message’s other texts', () => {
  const text = `Notes:\n\n${PROSE}\n\nHere it is.`;
  const parts = [
    { message: 0, text },
    { message: 0, text: 'Which bridges did Harbour12 lose?' },
    { message: 2, text: `${text} Which year?` },
  ].map((part, index) => ({ index, role: 'user', kind: 'user_text', ...part }) as const);
  const options = { ...OPTIONS, userProse: true };
  const [before, asked, later] = [1, 2, 3].map(
    (count) => compressConversation(parts.slice(0, count), options)[0]!.text,
  );
  assert.is.not(before, asked);
  assert.is(later, asked);
});

test('leaves compressed text unchanged when it is compressed again', () => {
  const blocks = conversation();
  const once = compressConversation(blocks, OPTIONS);
  const again = compressConversation(
    blocks.map((block, at) => ({ ...block, text: once[at]!.text })),
    OPTIONS,
  );
  assert.equal(
    again.map((outcome) => outcome.text),
    once.map((outcome) => outcome.text),
  );
});

test('refers to a call’s input by the call and the string within it', () => {
  const other = SOURCE.replaceAll('load', 'read');
  const toolInput = { old_string: SOURCE, new_string: other, edits: [{ text: `${other}x` }] };
  const parts = [
    { role: 'assistant', kind: 'tool_use', text: 'a', toolName: 'Edit', toolInput },
    { role: 'assistant', kind: 'tool_use', text: 'b', toolName: 'Edit', toolInput: 'c' },
    { role: 'user', kind: 'tool_result', text: `was\n${SOURCE}\nis\n${other}\nend` },
  ] as const;
  const blocks = parts.map((part, index) => ({ index, ...part }));
  const state = emptyState();
  const out = compressConversation(blocks, CONVERSATION, undefined, state)[2]!;
  assert.match(out.text, 'lines 1–80 of old_string of call 1 (Edit) again]');
  assert.match(out.text, '[svc new_string of call 1 (Edit), lines 1-80]');
  assert.is(restoreReferences(state.sent, out.text), blocks[2]!.text);
});

test('refers to a call’s input by its file if several calls are alike', () => {
  const sourceNamed = (name: string) => SOURCE.replaceAll('load', name);
  const inputs = [
    { tool: 'edit', input: { path: 'src/theme/dark.json', newText: sourceNamed('dark') } },
    { tool: 'edit', input: { path: 'src/theme/light.json', newText: sourceNamed('light') } },
    { tool: 'bash', input: { command: `tee values.txt <<'END'\n${sourceNamed('plain')}\nEND` } },
  ];
  const calls = inputs.map(({ tool, input }, index): ConversationBlock => ({
    index,
    role: 'assistant',
    kind: 'tool_use',
    text: '',
    toolName: tool,
    toolInput: input,
  }));
  const text = ['dark', 'light', 'plain']
    .map((name) => `${name}:\n${sourceNamed(name)}`)
    .join('\n');
  const seen: ConversationBlock = { index: 3, role: 'user', kind: 'tool_result', text };
  const out = compressConversation([...calls, seen], CONVERSATION)[3]!.text;
  assert.match(out, 'of newText of call 1 (edit dark.json) again]');
  assert.match(out, '[svc newText of call 2 (edit light.json), lines');
  assert.match(out, "[svc command of call 3 (tee values.txt <<'END'");
});

test('changes nothing in strict mode or below the threshold', () => {
  const blocks = conversation();
  for (const options of [
    { ...OPTIONS, mode: 'strict' as const },
    { ...OPTIONS, thresholdTokens: 1e6 },
  ]) {
    assert.ok(
      compressConversation(blocks, options).every(
        (outcome, at) => outcome.text === blocks[at]!.text,
      ),
    );
  }
});

test('leaves text that imitates our markers unchanged', () => {
  const text = `[svc lines 1–90 of result 1 (x) again]\n${LOG}`;
  const [out] = compressConversation([{ index: 0, role: 'user', kind: 'tool_result', text }], {
    ...OPTIONS,
    thresholdTokens: 0,
  });
  assert.is(out!.text, text);
  assert.is(out!.reason, 'marked');
});

test('detects a marker that a step could move to the start of a line, but not one quoted in source code', () => {
  const mark = '[svc omitted 9 of 99 lines here (lines 1–9); the source is complete]';
  const before = [
    '',
    '  ',
    '+',
    '    12\t',
    '   7→',
    '\u001b[31m',
    'gone\r',
    '2026-01-02 10:00:00 ',
    '# ',
  ];
  for (const start of before) assert.ok(hasMark(`a\n${start}${mark}\nb`), JSON.stringify(start));
  for (const start of ["const text = '", 'see ', '`', 'x.ts:3:'])
    assert.not.ok(hasMark(`a\n${start}${mark}\nb`), start);
  const text = `${SOURCE}\nexport const mark = '${mark}';\n${SOURCE}`;
  const options = { ...CONVERSATION, mode: 'aggressive' } as const;
  const [once] = compressConversation(
    [{ index: 0, role: 'user', kind: 'tool_result', text }],
    options,
  );
  assert.ok(once!.changed && once!.text.includes(`'${mark}';`));
  const [twice] = compressConversation(
    [{ index: 0, role: 'user', kind: 'tool_result', text: once!.text }],
    options,
  );
  assert.is(twice!.text, once!.text);
});

test('compresses only the pasted part of a user text', () => {
  assert.equal(splitPasted('short question'), { prefix: '', body: '', suffix: 'short question' });
  const text = `Look at this:\n\n${PROSE}\n\nWhat is wrong?`;
  const parts = splitPasted(text);
  assert.is(parts.prefix + parts.body + parts.suffix, text);
  assert.is(parts.suffix, '\n\nWhat is wrong?');
  assert.is(splitPasted('x'.repeat(9000)).body, '');
});

/** Returns what is sent for the output of consecutive commands. */
function printed(...results: readonly (readonly [command: string, text: string])[]) {
  const blocks = results.map(([command, text], index): ConversationBlock => ({
    index,
    role: 'user',
    kind: 'tool_result',
    message: index,
    text,
    toolName: 'bash',
    toolInput: { command },
  }));
  return compressConversation(blocks, { ...CONVERSATION, logBudgetTokens: 3500 });
}

const wrapped = (body: string): string =>
  `<returncode>0</returncode>\n<output>\n${body}\n</output>`;

test('keeps a short part of a repeated file whole, whatever the harness writes around it', () => {
  const lines = SOURCE.split('\n');
  const part = wrapped(lines.slice(20, 34).join('\n'));
  const oneMore = wrapped([...lines.slice(20, 34), '// the end'].join('\n'));
  const out = printed(
    ['cat a.ts', wrapped(SOURCE)],
    ['sed -n 21,34p a.ts', part],
    ['sed -n 21,35p a.ts', oneMore],
  );
  assert.is(out[1]!.text, part);
  assert.is(out[2]!.text, oneMore);
  assert.ok(printed(['cat a.ts', wrapped(SOURCE)], ['cat a.ts', wrapped(SOURCE)])[1]!.changed);
});

test('keeps the names of failed tests when a run fails again', () => {
  const details = Array.from(
    { length: 9 },
    (_, n) =>
      `____ test_part_${n} ____\n\n    def test_part_${n}():\n>       assert read(${n}) == ${n}\nE       assert None == ${n}\n\ntests/test_a.py:${n}: AssertionError`,
  );
  const failed = details.map(
    (_, n) => `FAILED tests/test_a.py::test_part_${n} - assert None == ${n}`,
  );
  const run = [
    '===== FAILURES =====',
    ...details,
    '===== short test summary info =====',
    ...failed,
    '===== 9 failed, 3 passed in 0.12s =====',
  ].join('\n');
  const out = printed(['pytest', run], ['pytest', run]);
  assert.ok(out[1]!.by.includes('repeats'));
  const texts = new Set(out[1]!.text.split('\n'));
  assert.equal(
    failed.filter((line) => !texts.has(line)),
    [],
  );
});

test('leaves a text unchanged if compression would save little', () => {
  const files = ['autocomplete.test', 'chat-simple', 'editor.test', 'key-tester', 'markdown.test'];
  const listing = files.map((name) => `packages/tui/test/${name}.ts`).join('\n');
  const errors = Array.from(
    { length: 16 },
    (_, n) =>
      `../tui/test/part${n}.ts(${n * 7},21): error TS2554: Expected ${n} arguments, but got ${n + 1}.`,
  ).join('\n');
  const out = printed(
    ['ls packages/tui/test/*.ts', listing],
    ['npm run check 2>&1 | grep error', errors],
  );
  assert.equal(
    out.map(({ changed }) => changed),
    [false, false],
  );
  const members = (count: number) =>
    Array.from({ length: count }, (_, n) => `"member_${n}":"value ${n * 7919}"`).join(',');
  const spaced = (blanks: number) =>
    `{${members(90).replaceAll(/:(?=")/g, () => (blanks-- > 0 ? ': ' : ':'))}}`;
  const folded = (times: number) =>
    [
      ...Array.from({ length: 90 }, (_, n) => `Creating table account_${n} of part ${n * 31}`),
      ...Array.from({ length: times }, () => 'Destroying the test database'),
      'Ran 90 tests in 1.2s',
    ].join('\n');
  for (const [command, text] of [
    ['curl -s http://127.0.0.1:1/a', spaced],
    ['python manage.py test', folded],
  ] as const) {
    const [hardly, well] = [5, 90].map((many) => printed([command, text(many)])[0]!);
    assert.is(hardly!.changed, false, command);
    assert.is(well!.changed, true, command);
  }
});

test.run();
