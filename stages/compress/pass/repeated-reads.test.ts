/** A file sent without its comments is sent in full once the comments are needed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONVERSATION, loadCodeTools, times } from '../../../fixtures/compress/texts.ts';
import { CODE_EXTENSIONS } from '../rules/code/code-tools.ts';
import type { ConversationBlock } from './blocks.ts';
import { compressConversation } from './conversation.ts';

const commentLines = await loadCodeTools(CODE_EXTENSIONS);

const FILE = times(
  40,
  (n) =>
    `  // puts the item of kind ${n} behind the others\n  add${n}(item: Item): void {\n    // whoever calls it has looked at the stock\n    this.items.push(item, ${n});\n  }\n`,
).join('\n');
const WHOLE = `export class Cart {\n${FILE}\n}\n`;

interface Step {
  readonly tool?: string;
  readonly input?: object;
  readonly text: string;
  readonly isError?: true;
  /** The user's text before it. */
  readonly asked?: string;
}

const READ: Step = { text: WHOLE };
const input = { file_path: '/app/src/cart.ts' };
const edit = (text: string, more: object = {}): Step => ({
  tool: 'Edit',
  input: { ...input, old_string: 'add1(item: Item) {\n  this.items', new_string: 'x' },
  text,
  ...more,
});

/** Returns what is sent for each step. */
function sentFor(steps: readonly Step[]): readonly string[] {
  const blocks: ConversationBlock[] = [];
  const places = steps.map((step) => {
    const mentions = (text: string): number =>
      blocks.push({ index: blocks.length, role: 'user', kind: 'user_text', text }) - 1;
    if (step.asked !== undefined) mentions(step.asked);
    const index = blocks.length;
    blocks.push({
      index,
      role: 'user',
      kind: 'tool_result',
      message: index,
      text: step.text,
      toolName: step.tool ?? 'Read',
      toolInput: step.input ?? input,
      ...(step.isError && { isError: true }),
    });
    return index;
  });
  const options = { ...CONVERSATION, mode: 'aggressive', commentLines } as const;
  const outcomes = compressConversation(blocks, options);
  return places.map((at) => outcomes[at]!.text);
}

const MISSED: readonly Step[] = [
  edit('<tool_use_error>String to replace not found in file.</tool_use_error>', { isError: true }),
  edit('Could not find the exact text in src/cart.ts. The old text must match exactly.'),
  edit('Failed to edit, 0 occurrences found for old_string in /app/src/cart.ts.'),
  edit('oldString not found in content'),
  edit('No sufficiently similar match found in cart.ts (62% similar, needs 100%)'),
  edit('The SEARCH block did not match anything in the file.'),
];

test('sends a file in full when it is read again after an edit that found no match', () => {
  for (const missed of MISSED) {
    const [first, , again] = sentFor([{ ...READ, asked: 'Mend the cart' }, missed, READ]);
    assert.match(first!, /^\/\/ \[svc omitted 80 of/);
    assert.is(again, WHOLE, missed.text);
  }
});

test('sends a file in full when it is read twice in a row, or again for another question', () => {
  const twice = sentFor([{ ...READ, asked: 'Mend the cart' }, READ, READ]);
  assert.is(twice[1], WHOLE);
  assert.match(twice[2]!, /^\[svc lines 1[–-]\d+ of result 2 \(cart.ts\) again\]/);
  const other: Step = { ...READ, asked: 'Who has looked at the stock, and when?' };
  const [, , again] = sentFor([{ ...READ, asked: 'Mend it' }, edit('File updated.'), other]);
  assert.match(again!, 'result 1');
  const looked = { tool: 'Bash', input: { command: 'ls' }, text: 'cart.ts' };
  assert.is(sentFor([{ ...READ, asked: 'Mend it' }, looked, other])[2], WHOLE);
});

test('keeps every line when only a part of a shortened file is read', () => {
  const part = WHOLE.split('\n').slice(60, 101).join('\n');
  for (const call of [
    { tool: 'Read', input: { ...input, offset: 61, limit: 41 } },
    { tool: 'Bash', input: { command: "sed -n '61,101p' src/cart.ts" } },
  ]) {
    const [, out] = sentFor([
      { ...READ, asked: 'Mend the cart' },
      { ...call, text: part },
    ]);
    assert.is(out, part, call.tool);
  }
});

test('sends unchanged lines as references after a successful edit', () => {
  const changed = WHOLE.replace('this.items.push(item, 7)', 'this.items.unshift(item, 7)');
  const [, , again] = sentFor([
    { ...READ, asked: 'Mend the cart' },
    edit('The file /app/src/cart.ts has been updated.'),
    { text: changed },
  ]);
  assert.match(again!, 'unshift(item, 7)');
  assert.match(again!, /\[svc lines 2[–-]\d+ of result 1 \(cart.ts\) again\]/);
});

test.run();
