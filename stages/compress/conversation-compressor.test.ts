import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { ConversationBlock } from './conversation.ts';

const OPTIONS = {
  mode: 'aggressive',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 3500,
} as const;
const PYTHON = Array.from(
  { length: 30 },
  (_, n) =>
    `# a remark about function ${n}\n# and another one\ndef function_${n}(value):\n    return value + ${n}\n`,
).join('\n');

const block = (index: number, text: string, toolInput: unknown): ConversationBlock => ({
  index,
  role: 'user',
  kind: 'tool_result',
  text,
  toolName: 'bash',
  toolInput,
});

test('code shrinks at first sight, whatever other conversations have needed before', async () => {
  const first = [block(0, PYTHON, { command: 'cat a.py' })];
  const fresh = await createConversationCompressor(0).compress({ blocks: first, options: OPTIONS });
  assert.match(fresh[0]!.text!, 'comments and blank lines only');
  const used = createConversationCompressor(10);
  const other = [
    block(0, PYTHON.replaceAll('#', '//'), { path: 'b.rs' }),
    block(1, 'x', { path: 'c.go' }),
  ];
  await used.compress({ blocks: other, options: OPTIONS });
  assert.equal(await used.compress({ blocks: first, options: OPTIONS }), fresh);
  assert.equal(await used.compress({ blocks: first, options: OPTIONS }), fresh);
});

test('a conversation in two languages is told of once, whatever had to be loaded on the way', async () => {
  const go = PYTHON.replaceAll('# ', '// ').replaceAll(
    /def (\w+)\(value\):\n\s+(.*)/g,
    'func $1(value int) int {\n\t$2\n}',
  );
  const blocks = [
    block(0, PYTHON, { command: 'cat a.py' }),
    block(1, 'nothing of note', {}),
    block(2, `package a\n${go}`, { command: 'cat c.go' }),
    block(3, PYTHON.replaceAll('function', 'method'), { command: 'cat d.py' }),
  ];
  const told: number[] = [];
  const all = await createConversationCompressor(0).compress(
    { blocks, options: OPTIONS },
    (outcomes) => told.push(...outcomes.map(({ index }) => index)),
  );
  assert.equal(told, [...new Set(told)]);
  assert.equal(
    all.map(({ index, changed }) => [index, changed]),
    [
      [0, true],
      [1, false],
      [2, true],
      [3, true],
    ],
  );
});

test.run();
