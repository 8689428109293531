/**
 * Results that clients wrap in JSON: the text inside is compressed, referenced and kept as if it
 * were not wrapped.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inlineTexts, readTexts, restoreReferences } from '../decode/decoders.ts';
import { CONVERSATION, LOG, PROSE, SOURCE } from '../../../fixtures/compress/texts.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { ConversationBlock } from './blocks.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import { compressConversation, emptyState, type ConversationOptions } from './conversation.ts';

/** Prose in several lines, as in documents. */
const NOTES = PROSE.replaceAll('. ', '.\n');

const OPTIONS: ConversationOptions = { ...CONVERSATION, thresholdTokens: 0 };

type Given = Partial<ConversationBlock> & Pick<ConversationBlock, 'text'>;

function conversation(...given: readonly Given[]): ConversationBlock[] {
  return given.map((one, index) => ({
    index,
    role: 'user',
    kind: 'tool_result',
    message: index,
    toolUseId: `call ${index}`,
    ...one,
  }));
}

const ran = (command: string, printed: string): Given => ({
  text: JSON.stringify([{ query: command, result: printed, success: true }]),
  toolName: 'run_commands',
  toolInput: { commands: [command] },
});
const read = (...files: readonly (readonly [path: string, text: string])[]): Given => ({
  text: JSON.stringify(files.map(([query, result]) => ({ query, result, success: true }))),
  toolName: 'read_files',
  toolInput: { files: files.map(([path]) => ({ path })) },
});

function textOf(outcomes: ReturnType<typeof compressConversation>, at: number, nth = 0): string {
  return readTexts(outcomes[at]!.text)?.texts[nth] ?? '';
}

test('compresses a log inside JSON like a log on its own', () => {
  const [carried] = compressConversation(conversation(ran('npm run build', LOG)), OPTIONS);
  const alone = { text: LOG, toolName: 'bash', toolInput: { command: 'npm run build' } };
  const [plain] = compressConversation(conversation(alone), OPTIONS);
  assert.ok(plain!.changed && carried!.changed);
  assert.is(textOf([carried!], 0), plain!.text);
  assert.equal(carried!.by, ['texts', ...plain!.by]);
});

test('refers to texts inside JSON by file from plain results, and the other way round', () => {
  const blocks = conversation(
    read(['/w/a.ts', SOURCE], ['/w/b.md', NOTES]),
    ran('cat b.md', NOTES),
    { text: SOURCE, toolName: 'bash', toolInput: { command: 'cat a.ts' } },
    { text: JSON.stringify({ stdout: SOURCE, stderr: '' }), toolInput: { command: 'cat a.ts' } },
  );
  const state = emptyState();
  const out = compressConversation(blocks, OPTIONS, undefined, state);
  assert.match(textOf(out, 1), /^\[svc lines 1–\d+ of text 2 of result 1 \(b\.md\) again\]/);
  assert.match(out[2]!.text, /^\[svc text 1 of result 1 \(a\.ts\), lines 1-\d+\]/);
  assert.match(textOf(out, 3), /^\[svc text 1 of result 1 \(a\.ts\), lines 1-\d+\]/);
  for (const at of [0, 1, 3]) {
    const whole = restoreReferences(state.sent, out[at]!.text);
    assert.equal(JSON.parse(inlineTexts(whole) ?? whole), JSON.parse(blocks[at]!.text));
  }
  assert.is(restoreReferences(state.sent, out[2]!.text), SOURCE);
});

test('refers to an earlier document that was sent unchanged', () => {
  const blocks = conversation(read(['/w/a.ts', SOURCE]), read(['/w/a.ts', SOURCE]));
  const first = estimateTokens(blocks[0]!.text);
  const out = compressConversation(blocks, { ...OPTIONS, thresholdTokens: first + 1 });
  assert.equal([out[0]!.changed, out[0]!.reason], [false, 'below-threshold']);
  assert.match(textOf(out, 1), /^\[svc lines 1–\d+ of text 1 of result 1 \(a\.ts\) again\]/);
});

test('gives every prefix of a conversation the same bytes, continued or alone', async () => {
  const blocks = conversation(
    read(['/w/a.ts', SOURCE], ['/w/b.md', NOTES]),
    ran('npm run build', LOG),
    ran('npm run build', LOG),
    { text: LOG, toolName: 'bash', toolInput: { command: 'npm run build' } },
    read(['/w/b.md', NOTES]),
  );
  for (const mode of ['hybrid', 'aggressive'] as const) {
    const options = { ...OPTIONS, mode };
    const whole = compressConversation(blocks, options).map(({ text }) => text);
    const compressor = createConversationCompressor(0);
    for (let end = 1; end <= blocks.length; end++) {
      const part = blocks.slice(0, end);
      for (const out of [
        compressConversation(part, options),
        await compressor.compress({ blocks: part, options, conversation: 'c' }),
      ])
        assert.equal(
          out.map(({ text }, at) => text ?? part[at]!.text),
          whole.slice(0, end),
        );
    }
  }
});

test('leaves protected documents unchanged', () => {
  const text = ran('npm run build', LOG).text;
  const short = JSON.stringify([{ query: 'x', result: LOG.slice(0, 400), success: false }]);
  const cases: readonly (readonly [Given, Partial<ConversationOptions>, string])[] = [
    [{ text }, { mode: 'strict' }, 'strict'],
    [{ text, protectedReason: 'document' }, {}, 'document'],
    [{ text: short, isError: true }, {}, 'error-result'],
    [{ text }, { thresholdTokens: 1_000_000 }, 'below-threshold'],
    [{ text, kind: 'other', role: 'assistant' }, {}, 'kind'],
  ];
  for (const [given, options, reason] of cases) {
    const [out] = compressConversation(conversation(given), { ...OPTIONS, ...options });
    assert.equal([out!.text, out!.reason], [given.text, reason]);
  }
});

test('leaves the content of a JSON file as it is on disk', () => {
  const text = JSON.stringify({ description: LOG, version: 1 });
  const inputs = [{ file_path: '/w/task.json' }, { command: 'cat task.json' }];
  for (const toolInput of inputs) {
    const [out] = compressConversation(conversation({ text, toolName: 'x', toolInput }), OPTIONS);
    assert.is(out!.text, text);
  }
  const printed = { text, toolName: 'x', toolInput: { command: './describe' } };
  assert.ok(compressConversation(conversation(printed), OPTIONS)[0]!.changed);
});

test('keeps instructions in a document whole, but not other prose', () => {
  const prose = PROSE.replaceAll('. ', '.\n\n');
  const question = { text: 'Which bridge was lost in 1812?', kind: 'user_text' } as const;
  const [left, whole] = ['/w/notes.md', '/w/CLAUDE.md'].map(
    (path) => compressConversation(conversation(question, read([path, prose])), OPTIONS)[1]!,
  );
  assert.equal(left!.by, ['texts', 'narrative']);
  assert.is(readTexts(whole!.text)?.texts[0], prose);
});

test('makes no reference to earlier documents if the provider may drop turns', () => {
  const blocks = conversation(read(['/w/a.ts', SOURCE]), read(['/w/a.ts', SOURCE]));
  const out = compressConversation(blocks, { ...OPTIONS, forgets: true });
  assert.ok(
    out.every(({ text }) => !text.includes(' of result ')),
    out[1]!.text,
  );
});

test('recognises compressed text that comes back, and leaves it unchanged', () => {
  const [out] = compressConversation(conversation(ran('npm run build', LOG)), OPTIONS);
  const [again] = compressConversation(conversation({ text: out!.text }), OPTIONS);
  assert.equal([again!.changed, again!.reason], [false, 'marked']);
});

test.run();
