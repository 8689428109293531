import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBlockCache } from './cache.ts';
import { compressConversation, type ConversationOptions } from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import { CONVERSATION, LOG } from '../../../fixtures/compress/texts.ts';

test('leaves a text unchanged in every turn if an algorithm fails on it, and names the algorithm', () => {
  const source = Array.from(
    { length: 60 },
    (_, n) => `# remark ${n}\ndef f${n}(value):\n    return value + ${n}\n`,
  ).join('\n');
  const options: ConversationOptions = {
    ...CONVERSATION,
    mode: 'aggressive',
    commentLines: () => {
      throw new Error('no such language');
    },
  };
  const code: ConversationBlock = {
    index: 0,
    role: 'user',
    kind: 'tool_result',
    text: source,
    toolName: 'bash',
    toolInput: { command: 'cat a.py' },
  };
  const build: ConversationBlock = {
    index: 0,
    role: 'user',
    kind: 'tool_result',
    text: LOG,
    toolName: 'bash',
    toolInput: { command: 'npm run build' },
  };
  const blocks = [build, { ...code, index: 1 }];
  const [log] = compressConversation(blocks.slice(0, 1), options);
  for (const cache of [undefined, createBlockCache(9)]) {
    for (let turn = 0; turn < 2; turn++) {
      const out = compressConversation(blocks, options, cache);
      assert.ok(log!.changed);
      assert.is(out[0]!.text, log!.text);
      assert.is(out[1]!.text, source);
      assert.equal(out[1]!.failed, ['code']);
    }
  }
});

test.run();
