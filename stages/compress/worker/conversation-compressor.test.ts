import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createGrammarLoader, packagedFile } from '../../grammars.ts';
import { createCodeTools } from '../rules/code/code-tools.ts';
import { createConversationCompressor } from './conversation-compressor.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import type { JobOutcome } from './job.ts';
import { LOG } from '../../../fixtures/compress/texts.ts';

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

test('compresses code at first sight, whatever grammars earlier conversations have loaded', async () => {
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

test('reports each block of a conversation in two languages once, whatever must be loaded for it', async () => {
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
  const reported: number[] = [];
  const all = await createConversationCompressor(0).compress(
    { blocks, options: OPTIONS },
    (outcomes) => reported.push(...outcomes.map(({ index }) => index)),
  );
  assert.equal(reported, [...new Set(reported)]);
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

test('tries a grammar that cannot be loaded once per job, and leaves texts that need it unchanged', async () => {
  const jobs: string[] = [];
  let isBroken = true;
  const loader = createGrammarLoader((name) => {
    jobs.push(name);
    return isBroken && name === 'python' ? '/nowhere/python.wasm' : packagedFile(name);
  });
  const compressor = createConversationCompressor(10, createCodeTools(loader));
  const rust = PYTHON.replaceAll('# ', '// ').replaceAll(
    /def (\w+)\(value\):\n\s+(.*)/g,
    'fn $1(value: i64) -> i64 {\n    $2\n}',
  );
  const blocks = [
    block(0, PYTHON, { command: 'cat a.py' }),
    block(1, rust, { command: 'cat b.rs' }),
    block(2, PYTHON, { command: 'cat c.py' }),
    block(3, LOG, { command: 'make' }),
  ];
  const reported: JobOutcome[] = [];
  const job = { blocks, options: OPTIONS };
  const first = await compressor.compress(job, (outcomes) => reported.push(...outcomes));
  assert.equal(jobs, ['python', 'rust']);
  assert.equal(reported, first.slice(0, reported.length));
  assert.equal(
    first.map(({ changed, reason }) => reason ?? changed),
    ['undecided', true, 'undecided', true],
  );
  assert.match(first[0]!.undecided!, /^the grammar for python cannot be loaded: .*nowhere/);
  assert.is(first[1]!.undecided, undefined);
  // Other texts of the language are tried again, and so are these if they are not remembered.
  await compressor.compress({
    blocks: [block(0, `${PYTHON}\n`, { path: 'd.py' })],
    options: OPTIONS,
  });
  assert.equal(jobs, ['python', 'rust', 'python']);
  isBroken = false;
  assert.equal(await compressor.compress(job), await createConversationCompressor(0).compress(job));
  assert.equal(jobs, ['python', 'rust', 'python', 'python']);
});

test.run();
