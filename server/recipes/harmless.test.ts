/**
 * The bundled recipes on their programs' output, with the built-in rules, as the proxy runs them:
 * judged by the same checks as recorded traffic (`fixtures/corpus`).
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { recipeTexts, type PrintedText } from '../../fixtures/compress/recipe-texts.ts';
import { createTextChecks, noTexts } from '../../fixtures/corpus/compress/texts.ts';
import { compressConversation, emptyState } from '../../stages/compress/pass/conversation.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import { OPERATIONS } from '../../stages/compress/recipe/operations.ts';
import { createRecipeCompiler } from '../../stages/compress/recipe/set.ts';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { bundledRecipes } from '../bundled-recipes.ts';
import { loadRecipes } from './recipes.ts';

const SETTINGS = { maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500 } as const;

const blockOf = ({ text, command, path }: PrintedText, index = 0): ConversationBlock => ({
  index,
  role: 'tool',
  kind: 'tool_result',
  message: index,
  text,
  toolName: path === undefined ? 'Bash' : 'Read',
  toolInput: path === undefined ? { command } : { file_path: path },
});

test('without must_keep a bundled recipe only makes lossless changes', () => {
  const recipes = bundledRecipes();
  assert.ok(recipes.length >= 40);
  for (const { name, mustKeep, operations, onSuccess = [] } of recipes) {
    const lossy = [...operations, ...onSuccess].filter(
      (step) => OPERATIONS.get(step.name)?.loss !== 'none',
    );
    assert.ok(mustKeep.length > 0 || lossy.length === 0, name);
  }
});

for (const mode of ['hybrid', 'aggressive'] as const)
  test(`${mode}: endings and required lines are kept verbatim, and nothing is invented`, async () => {
    const recipes = await loadRecipes('bundled');
    const checks = await createTextChecks(recipes);
    const options = { ...SETTINGS, mode };
    const compressor = createConversationCompressor(0);
    const compress = (blocks: readonly ConversationBlock[]) =>
      compressor.compress({ blocks, options: { ...options, recipes: recipes! } });
    const counts = noTexts();
    const faults: string[] = [];
    for (const printed of await recipeTexts()) {
      const block = blockOf(printed);
      const [outcome] = await compress([block]);
      const text = outcome!.text ?? printed.text;
      for (const fault of checks.check([block], options, () => text, counts))
        faults.push(`${printed.name}: ${fault}`);
      const [again] = await compress([{ ...block, text }]);
      if ((again!.text ?? text) !== text) faults.push(`${printed.name}: a second time is not once`);
    }
    assert.equal(faults, []);
    assert.ok(counts.recipes >= 60, `${counts.recipes}`);
  });

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/**
 * Runs from which a recipe drops lines in `hybrid`, and lines that say more than progress or
 * success.
 */
const KEPT_OUTPUT: readonly (readonly [
  command: string,
  text: string,
  stay: readonly string[],
  isAsItCame?: true,
])[] = [
  [
    'pytest -v',
    `===== test session starts =====\nplatform linux -- Python 3.11.7\nrootdir: /w/sub\nconfigfile: tox.ini\n\n${times(40, (n) => `t.py::test_${n} PASSED      [ ${n}%]`)}\nt.py::test_db SKIPPED (no server)     [ 99%]\n${times(20, (n) => `t.py::test_more_${n} PASSED      [ 99%]`)}\n\n==== 60 passed, 1 skipped in 0.2s ====`,
    ['rootdir: /w/sub', 'configfile: tox.ini', 't.py::test_db SKIPPED (no server)     [ 99%]'],
  ],
  [
    'go test -v ./...',
    `${times(40, (n) => `=== RUN   TestPart${n}\n--- PASS: TestPart${n} (0.00s)`)}\n=== RUN   TestNet\n--- SKIP: TestNet (0.00s)\n${times(20, (n) => `=== RUN   TestMore${n}\n--- PASS: TestMore${n} (0.00s)`)}\nPASS\nok  \texample.com/w\t0.012s`,
    ['--- SKIP: TestNet (0.00s)'],
  ],
  [
    'python3 -m unittest -v',
    `${times(40, (n) => `test_${n} (t.Part) ... ok`)}\ntest_db (t.Part) ... skipped 'no server'\n${times(20, (n) => `test_more_${n} (t.Part) ... ok`)}\n\nRan 61 tests in 0.1s\n\nOK (skipped=1)`,
    ["test_db (t.Part) ... skipped 'no server'"],
  ],
  [
    'cargo test',
    `running 61 tests\n${times(40, (n) => `test part::case_${n} ... ok`)}\ntest part::slow ... ignored\n${times(20, (n) => `test more::case_${n} ... ok`)}\n\ntest result: ok. 60 passed; 0 failed; 1 ignored`,
    ['test part::slow ... ignored'],
  ],
  [
    'node --test',
    `TAP version 13\n${times(40, (n) => `ok ${n + 1} - part ${n}`)}\nok 41 - the net # SKIP no server\n${times(20, (n) => `ok ${n + 42} - more ${n}`)}\n1..61\n# pass 60\n# skipped 1`,
    ['ok 41 - the net # SKIP no server'],
  ],
  [
    'make',
    `cc -c a.c\nmake[1]: Entering directory '/w/lib'\n${times(40, (n) => `[ ${n}%] Building C object lib/part${n}.o`)}\nparse.c:7:3: warning: unused variable\n${times(9, (n) => `[ ${40 + n}%] Building C object lib/more${n}.o`)}\nmake[1]: Leaving directory '/w/lib'\n[100%] Built target shop\ncc -o shop`,
    ["make[1]: Entering directory '/w/lib'"],
  ],
  [
    'npm publish --dry-run',
    `npm notice\nnpm notice package: part@1.0.0\nnpm notice Tarball Contents\n${times(40, (n) => `npm notice ${n}.1kB lib/part${n}.js`)}\nnpm notice 12B .env\n${times(9, (n) => `npm warn deprecated old${n}@1.0.0: gone ${n}`)}\n+ part@1.0.0`,
    ['npm notice 12B .env', 'npm warn deprecated old4@1.0.0: gone 4'],
    true,
  ],
  [
    'git commit -am parts',
    `[main 1a2b3c4] parts\n 41 files changed, 90 insertions(+)\n${times(20, (n) => ` create mode 100644 src/part${n}.ts`)}\n create mode 100644 .env\n${times(20, (n) => ` create mode 100644 src/more${n}.ts`)}`,
    [' create mode 100644 .env'],
    true,
  ],
  [
    'docker inspect web',
    JSON.stringify([{ Id: 'a1', LogPath: '/var/lib/web.log', MacAddress: '02:42' }], null, 2),
    ['LogPath', 'MacAddress'],
    true,
  ],
];

test('in hybrid a recipe omits neither search results nor skipped tests', async () => {
  const recipes = (await loadRecipes('bundled'))!;
  const compressor = createConversationCompressor(0);
  for (const [command, text, stay, isUnchanged] of KEPT_OUTPUT) {
    const block = blockOf({ name: command, command, text });
    const [outcome] = await compressor.compress({
      blocks: [block],
      options: { ...SETTINGS, mode: 'hybrid', recipes },
    });
    const out = outcome!.text ?? text;
    if (isUnchanged !== true) assert.ok(out.length < text.length / 2, `${command}: ${out}`);
    for (const line of stay) assert.ok(out.includes(line), `${command}: ${line}`);
  }
});

test('a turn is sent the same way in the next turn, whatever that one adds', async () => {
  const rewriter = createRecipeCompiler()((await loadRecipes('bundled'))!);
  const blocks = (await recipeTexts()).map(blockOf);
  const options = { ...SETTINGS, thresholdTokens: 4500, mode: 'hybrid', rewriter } as const;
  const memory = emptyState();
  const whole = compressConversation(blocks, options).map(({ text }) => text);
  for (let end = 1; end <= blocks.length; end += 7) {
    const part = compressConversation(blocks.slice(0, end), options, undefined, memory);
    assert.equal(
      part.map(({ text }) => text),
      whole.slice(0, end),
    );
  }
});

test.run();
