/** The bundled recipes against their examples, and how the proxy loads users' recipes. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { savedPercent, tryRecipe } from '../../stages/compress/recipe/try.ts';
import { runExamples } from './recipe-examples.ts';
import { bundledFolder, bundledRecipes } from '../bundled-recipes.ts';
import { loadRecipes, readRecipe, recipeFaults, recipeFiles } from './recipes.ts';

const MIN_PERCENT = 30;

/**
 * Recipes for the output of a service, whose examples are therefore written by hand in its format.
 */
const OF_SERVICES = ['ci-log', 'http-json', 'kubectl-get'];

for (const file of recipeFiles(bundledFolder())) {
  const name = basename(file, '.yaml');
  test(`${name} saves 30 % of real output, keeps the required lines, and names its source`, async () => {
    const read = await readRecipe(file);
    assert.is(read.recipe.name, name);
    assert.ok(read.recipe.description.length > 10);
    const ran = runExamples(read, file);
    assert.ok(ran.length > 0, 'no example');
    for (const { example, tried, faults } of ran) {
      assert.equal(faults, []);
      assert.ok(savedPercent(tried) >= MIN_PERCENT, `${savedPercent(tried)} %`);
      assert.equal(tried.missing, []);
      assert.is(example.made, OF_SERVICES.includes(name) ? 'hand' : 'run');
      if (example.made === 'run') assert.match(example.from, /\d+\.\d/, 'no version');
      assert.ok((example.command ?? example.path ?? '') !== '', 'neither command nor file');
      assert.is(
        tryRecipe(read.recipe, tried.text, example).text,
        tried.text,
        'two passes differ from one',
      );
    }
  });
}

test('the build compiles every bundled recipe', () => {
  assert.equal(
    bundledRecipes().map(({ name }) => name),
    recipeFiles(bundledFolder()).map((file) => basename(file, '.yaml')),
  );
});

const folder = mkdtempSync(join(tmpdir(), 'svc-recipes-'));
test.after(() => rmSync(folder, { recursive: true }));
const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

test("the user's own recipes run before the bundled ones and replace those of the same name", async () => {
  const file = write('a.yaml', 'name: pytest\nmatch: { class: log }\noperations: [strip_ansi]\n');
  const [bundled, both, off] = await Promise.all([
    loadRecipes('bundled'),
    loadRecipes([file, 'bundled']),
    loadRecipes('off'),
  ]);
  assert.is(off, undefined);
  assert.not.ok(bundled!.isOwn);
  assert.ok(both!.isOwn);
  assert.is.not(both!.id, bundled!.id);
  const names = JSON.parse(both!.source) as { name: string; operations: { name: string }[] }[];
  assert.is(names.filter(({ name }) => name === 'pytest').length, 1);
  assert.is(names[0]!.operations[0]!.name, 'strip_ansi');
});

test('a recipe file that cannot be used is reported with the fault and its line', async () => {
  const file = write(
    'b.yaml',
    'name: mine\nmatch:\n  klass: log\noperations:\n  - drop_lines: { pattern: x }\n',
  );
  const faults = await recipeFaults(file);
  assert.match(faults.join('\n'), /b\.yaml:3: match\.klass is not a condition/);
  assert.match(faults.join('\n'), /b\.yaml:5: operations\.0\.drop_lines .*must_keep/);
  assert.match((await recipeFaults(join(folder, 'none.yaml')))[0]!, /does not exist/);
  assert.ok(existsSync(file));
});

test.run();
