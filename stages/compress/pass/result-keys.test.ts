import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ConversationBlock } from './blocks.ts';
import { resultKeys } from './result-keys.ts';

const block = (kind: ConversationBlock['kind'], text: string, toolUseId?: string) => ({
  kind,
  text,
  role: 'user',
  ...(toolUseId !== undefined && { toolUseId }),
});
const BLOCKS: readonly ConversationBlock[] = [
  block('tool_result', 'long text'),
  block('tool_result', 'short'),
  block('tool_use', 'long text'),
  block('tool_result', 'long text'),
  block('tool_result', 'long text', 't1'),
  block('tool_result', 'short'),
  block('tool_result', 'other txt'),
  block('tool_result', 'long text'),
].map((one, index) => ({ ...one, index }));

test('numbers equal results in order, and gives keys only to results', () => {
  const keys = resultKeys(BLOCKS);
  assert.is(keys[2], undefined);
  assert.is(keys[3], `${keys[0]}.1`);
  assert.is(keys[7], `${keys[0]}.2`);
  assert.is(new Set(keys.filter((key) => key !== undefined)).size, 7);
});

test('gives a result the same key whichever other results are selected', () => {
  const all = resultKeys(BLOCKS);
  const long = resultKeys(BLOCKS, (text) => text.length > 5);
  assert.equal(
    long,
    all.map((key, at) => (BLOCKS[at]!.text === 'short' ? undefined : key)),
  );
});

test.run();
