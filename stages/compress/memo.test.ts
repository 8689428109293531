import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBlockCache } from './cache.ts';
import { compressConversation, type ConversationBlock } from './conversation.ts';
import { ConversationMemo } from './memo.ts';
import { CONVERSATION, PROSE } from './testing.ts';

test('a question added to a message counts for its other texts, warm or cold', () => {
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

test.run();
