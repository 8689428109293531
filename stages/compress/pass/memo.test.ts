import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBlockCache } from './cache.ts';
import { compressConversation } from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import { GrammarNeeded } from '../rules/code/grammar-needed.ts';
import { ConversationMemo } from './memo.ts';
import { CONVERSATION as DEFAULTS, LOG, PROSE } from '../../../fixtures/compress/texts.ts';

const CONVERSATION = { ...DEFAULTS, userProse: true };

test('applies a question added to a message to the message’s other texts, with and without a memo', () => {
  const text = `Notes:\n\n${PROSE}\n\nHere it is.`;
  const [notes, ask, more]: Omit<ConversationBlock, 'index'>[] = [
    { role: 'user', kind: 'user_text', message: 0, text },
    { role: 'user', kind: 'user_text', message: 0, text: 'Which bridges did Harbour12 lose?' },
    { role: 'user', kind: 'user_text', message: 2, text: `${text} Which year?` },
  ];
  const grown = [[notes!], [notes!, ask!], [notes!, ask!, more!]].map((parts) =>
    parts.map((part, index) => ({ ...part, index })),
  );
  const memo = new ConversationMemo(4);
  const warm = grown.map((blocks) => memo.compress(blocks, CONVERSATION, createBlockCache(9)));
  const cold = grown.map((blocks) => compressConversation(blocks, CONVERSATION));
  assert.equal(warm, cold);
  assert.is.not(cold[0]![0]!.text, cold[1]![0]!.text);
  assert.is(cold[2]![0]!.text, cold[1]![0]!.text);
});

test('reuses results from before a missing grammar, and keeps nothing of unfinished work', () => {
  const code = PROSE.replaceAll(
    /In the year (\d+)[^.]*\. /g,
    'def f$1(value):\n    return value\n\n',
  );
  const [log, ask, source, other]: Omit<ConversationBlock, 'index'>[] = [
    { role: 'tool', kind: 'tool_result', message: 0, text: LOG },
    { role: 'user', kind: 'user_text', message: 1, text: 'Which year?' },
    {
      role: 'user',
      kind: 'user_text',
      message: 2,
      text: `What fails here?\n\n${code}\n\nAnd where?`,
    },
    { role: 'tool', kind: 'tool_result', message: 2, text: PROSE },
  ];
  const inOrder = (...parts: Omit<ConversationBlock, 'index'>[]) =>
    parts.map((part, index) => ({ ...part, index }));
  const needing = {
    ...CONVERSATION,
    mode: 'aggressive',
    commentLines: () => {
      throw new GrammarNeeded('python');
    },
  } as const;
  const memo = new ConversationMemo(4);
  const seen: number[] = [];
  const watch = (_: unknown, { index }: ConversationBlock): void => void seen.push(index);
  const blocks = inOrder(log!, ask!, source!);
  for (let turn = 0; turn < 2; turn++)
    assert.throws(
      () => memo.compress(blocks, needing, undefined, watch),
      (thrown: unknown) => thrown instanceof GrammarNeeded,
    );
  assert.equal(seen, [0, 1, 2, 2]);
  const another = inOrder(log!, ask!, other!);
  const cold = compressConversation(another, needing);
  assert.equal(memo.compress(another, needing, undefined, watch), cold);
  assert.equal(seen, [0, 1, 2, 2, 2]);
});

test.run();
