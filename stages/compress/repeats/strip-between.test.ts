/**
 * Code already seen in part, in `aggressive`: seen lines are referenced, and the rest loses its
 * comments.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CODE_EXTENSIONS } from '../rules/code/code-tools.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { compressConversation, emptyState } from '../pass/conversation.ts';
import { CONVERSATION, loadCodeTools, times } from '../../../fixtures/compress/texts.ts';
import { stripBetween } from './strip-between.ts';
import { restoreReferences } from '../decode/decoders.ts';

/** A file in which every third line is a comment. */
const FILE = times(60, (n) =>
  n % 3 === 1
    ? `// what the value number ${n} is for, in a sentence of its own`
    : `export const value${n} = compute(${n}, 'some text of it');`,
);

const commentLines = await loadCodeTools(CODE_EXTENSIONS);

/**
 * Returns what is sent for each text, each followed by an edit: else it would seem reread for its
 * comments.
 */
function read(texts: readonly string[]) {
  const result = { role: 'user', kind: 'tool_result' } as const;
  const blocks = texts.flatMap((text, at): ConversationBlock[] => [
    { ...result, index: 2 * at, text, toolName: 'read', toolInput: { path: 'a.ts' } },
    { ...result, index: 2 * at + 1, text: 'ok', toolName: 'edit', toolInput: { path: 'a.ts' } },
  ]);
  const state = emptyState();
  const options = { ...CONVERSATION, mode: 'aggressive', commentLines } as const;
  const all = compressConversation(blocks, options, undefined, state);
  return { outcomes: all.filter((_, at) => at % 2 === 0), state };
}

/**
 * Returns lines with numbers, as some tools print them. Without numbers, lines could not be found
 * after others are removed.
 */
const view = (lines: readonly string[], first = 1): string =>
  lines.map((line, at) => `${String(first + at).padStart(6)}\t${line}`).join('\n');

test('refers to lines that were sent without comments by their original line numbers', () => {
  const part = view(FILE.slice(9, 48), 10);
  const rest = view(
    times(9, (n) => `end(${n});`),
    49,
  );
  const { outcomes, state } = read([view(FILE), `${part}\n${rest}`]);
  assert.equal(outcomes[0]!.by, ['code']);
  const [first] = outcomes[1]!.text.split('\n');
  assert.is(first, '[svc lines 10–48 of result 1 (a.ts) again]');
  assert.ok(restoreReferences(state.sent, outcomes[1]!.text).startsWith(part));
});

test('begins and ends a reference with lines that were sent, and covers mostly such lines', () => {
  const comments = times(12, (n) => `// the ${n}th line of a long comment about all of this`);
  const file = [...FILE.slice(0, 12), ...comments, ...FILE.slice(12)];
  const { outcomes } = read([
    view(file),
    view([...comments, ...file.slice(24, 50), 'end();', 'more();'], 13),
    view([...file.slice(0, 40), ...times(12, (n) => `other(${n});`)]),
  ]);
  const [second, third] = [outcomes[1]!.text, outcomes[2]!.text];
  assert.not.match(second, /:1[3-9]-|lines 1[3-9]–/);
  for (const text of [second, third])
    for (const [, from, to] of text.matchAll(/(\d+)[-–](\d+)(?: of result|\])/g)) {
      assert.not.ok(file[Number(from) - 1]!.startsWith('//'), text);
      assert.not.ok(file[Number(to) - 1]!.startsWith('//'), text);
    }
});

test('removes the comments from new lines between references, and counts them in the note', () => {
  const fresh = times(45, (n) =>
    n % 3 === 0 ? `// a new comment, number ${n}` : `run(${n}, 'of the new part');`,
  );
  const { outcomes } = read([view(FILE), view([...FILE.slice(6, 33), ...fresh], 7)]);
  const { text, by, removed } = outcomes[1]!;
  assert.equal(by, ['code', 'repeats']);
  assert.equal(text.split('\n').slice(0, 2), [
    '// [svc omitted 15 of 72 lines, comments and blank lines only; the source is complete]',
    '[svc lines 7–33 of result 1 (a.ts) again]',
  ]);
  assert.is(
    removed.reduce((sum, { from, to }) => sum + to - from, 0),
    15,
  );
  assert.not.match(text, 'a new comment');
});

test('keeps line numbers correct under the header of a harness and with repeats in the same text', () => {
  const wrapped = (lines: readonly string[]): string =>
    ['<returncode>0</returncode>', '<output>', ...lines, '</output>'].join('\n');
  const twice = times(12, (n) => `write(${n}, 'what stands here and once more below');`);
  const fresh = [...twice, '// again, as the comment says', '// of two lines', ...twice];
  const { outcomes, state } = read([wrapped(FILE), wrapped([...FILE.slice(6, 33), ...fresh])]);
  for (const [at, lines] of [FILE, [...FILE.slice(6, 33), ...fresh]].entries()) {
    const out = restoreReferences(state.sent, outcomes[at]!.text).split('\n');
    for (const line of lines)
      if (!line.startsWith('//')) assert.ok(out.includes(line), `${at}: ${line}`);
    assert.is(out.filter((line) => line === twice[3]).length, at * 2);
    for (const { from, to } of outcomes[at]!.removed)
      for (const line of wrapped(lines).split('\n').slice(from, to)) assert.match(line, /^\/\/|^$/);
  }
});

test('leaves a text alone if it has no such note, or no comments that could be removed', () => {
  assert.is(
    stripBetween({ text: 'a\nb\nc', covers: [1, 1, 1] }, 'a', [{ from: 1, to: 3 }]),
    undefined,
  );
  const note =
    '# [svc omitted 2 of 9 lines, comments and blank lines only; the source is complete]';
  const named = '[svc result 1 (a.ts), lines 1-9]';
  assert.is(
    stripBetween({ text: named, covers: [9] }, `${note}\na`, [{ from: 1, to: 3 }]),
    undefined,
  );
});

test.run();
