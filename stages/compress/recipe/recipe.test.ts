/** A recipe from its data to the sent text: in a conversation, together with the built-in rules. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compressConversation } from '../pass/conversation.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import { CONVERSATION, times } from '../../../fixtures/compress/texts.ts';
import { checkRecipe } from './check.ts';
import type { Recipe } from './recipe.ts';
import { createRecipeCompiler, toRecipeSet } from './set.ts';
import { tryRecipe } from './try.ts';

const RECIPE = {
  name: 'deploy',
  match: { program: 'deploy', content: '^Deploying ' },
  must_keep: ['^(error|warning): ', '^Deploying '],
  operations: [{ drop_lines: { pattern: '^  step ' } }],
};

const OUTPUT = [
  'Deploying shop',
  'from main',
  'to stage',
  ...times(40, (n) => `  step ${n}: copied the ${n}th of all the files there are`),
  'warning: a slow disk',
  ...times(40, (n) => `  step ${n + 40}: started the ${n}th of all the services there are`),
  'checks: 3 passed',
  'time: 4 s',
  'Deployed shop',
].join('\n');

function recipeOf(value: unknown): Recipe {
  const checked = checkRecipe(value);
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.file.recipe;
}

const faultsOf = (value: unknown): string => {
  const checked = checkRecipe(value);
  return checked.ok
    ? ''
    : checked.faults.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n');
};

const blocks = (text: string, command = 'deploy shop') => [
  {
    index: 0,
    role: 'tool',
    kind: 'tool_result',
    text,
    toolName: 'Bash',
    toolInput: { command },
  } as const,
];

const compress = (recipe: Recipe, text: string, command?: string) => {
  const rewriter = createRecipeCompiler()(toRecipeSet([recipe], true));
  return compressConversation(blocks(text, command), { ...CONVERSATION, rewriter })[0]!;
};

test('runs a recipe before the built-in rules, reports its name, and numbers the omitted lines', () => {
  const out = compress(recipeOf(RECIPE), OUTPUT);
  assert.equal(out.by, ['recipe:deploy']);
  assert.is(
    out.text,
    [
      'Deploying shop',
      'from main',
      'to stage',
      '[svc omitted 40 of 87 lines here (lines 4–43); the source is complete]',
      'warning: a slow disk',
      '[svc omitted lines 45–84]',
      'checks: 3 passed',
      'time: 4 s',
      'Deployed shop',
    ].join('\n'),
  );
});

test('does not apply a recipe to other commands, or to output of another form', () => {
  assert.not.ok(compress(recipeOf(RECIPE), OUTPUT, 'make').by.includes('recipe:deploy'));
  const other = OUTPUT.replace('Deploying', 'Checking');
  assert.not.ok(compress(recipeOf(RECIPE), other).by.includes('recipe:deploy'));
});

test('keeps the lines that say how a command ended, whatever the recipe drops', () => {
  const all = recipeOf({ ...RECIPE, operations: [{ drop_lines: { pattern: '.' } }] });
  const out = compress(all, OUTPUT).text;
  for (const line of [
    'Deploying shop',
    'to stage',
    'warning: a slow disk',
    'checks: 3 passed',
    'Deployed shop',
  ])
    assert.ok(out.split('\n').includes(line), line);
});

test('gives the same bytes in a thread and inline, and again when repeated', async () => {
  const recipes = toRecipeSet([recipeOf(RECIPE)], true);
  const compressor = createConversationCompressor(10);
  const job = { blocks: blocks(OUTPUT), options: { ...CONVERSATION, recipes } };
  const [first] = await compressor.compress(job);
  assert.is(first!.text, compress(recipeOf(RECIPE), OUTPUT).text);
  assert.equal(await compressor.compress(job), [first]);
  const [without] = await compressor.compress({ blocks: blocks(OUTPUT), options: CONVERSATION });
  assert.not.ok(without!.by.includes('recipe:deploy'));
});

test('changes nothing when applied to its own output', () => {
  const once = tryRecipe(recipeOf(RECIPE), OUTPUT, { command: 'deploy' });
  const twice = tryRecipe(recipeOf(RECIPE), once.text, { command: 'deploy' });
  assert.is(twice.text, once.text);
});

test('allows only lossless operations without must_keep', () => {
  const { must_keep: _gone, ...rest } = RECIPE;
  assert.match(faultsOf(rest), /operations\.0\.drop_lines .*say in must_keep which lines stay/);
  assert.is(faultsOf({ ...rest, operations: ['strip_ansi'] }), '');
});

test('reports all faults at once, each with its place', () => {
  const texts = faultsOf({
    name: 'A B',
    colour: 1,
    match: { klass: 'log', class: 'logg' },
    must_keep: '(a+)+',
    operations: ['drop_lins', { keep_head: { lines: -1, more: 2 } }, { a: 1, b: 2 }, 'drop_lines'],
    examples: [{ from: 'x', made: 'guessed' }],
  });
  for (const part of [
    'name must consist of lower-case',
    'colour is not a recipe field',
    'match.klass is not a condition',
    'match.class cannot be "logg"',
    'must_keep "(a+)+" repeats a group',
    'operations.0 "drop_lins" is not an operation',
    'lines must be a whole number from 0',
    'has no parameter more',
    'operations.2 must be the name',
    'drop_lines needs pattern',
    'examples.0.made must be run or hand',
    'examples.0 must have either input or file',
  ])
    assert.ok(texts.includes(part), `${part} is not in\n${texts}`);
  assert.match(faultsOf([]), /is not a recipe/);
});

test.run();
