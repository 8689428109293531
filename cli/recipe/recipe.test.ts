/** A recipe from its author's view: written, checked, tested, measured. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { projectRoot } from '../../fixtures/paths.ts';
import { bundledFolder } from '../../server/bundled-recipes.ts';
import { recipeFiles } from '../../server/recipes/recipes.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';
import { newRecipe } from './scaffold.ts';

const place = makePlace();
test.after(() => place.dispose());
const file = join(place.folder, 'my-tool.yaml');

test('the recipe that `create` writes is valid, passes, and is the one in the guide', async () => {
  const made = await run(place, ['recipe', 'create', 'my-tool']);
  assert.is(made.code, 0, made.stderr);
  assert.is((await run(place, ['recipe', 'validate', 'my-tool.yaml'])).code, 0);
  const tested = await run(place, ['recipe', 'test', 'my-tool.yaml']);
  assert.is(tested.code, 0, tested.stdout);
  assert.match(tested.stdout, /1 of 1 example holds/);
  const guide = readFileSync(join(projectRoot, 'docs', 'recipes.md'), 'utf8');
  assert.ok(guide.includes(newRecipe('my-tool')));
  const again = await run(place, ['recipe', 'create', 'my-tool']);
  assert.match(again.stderr, /already exists/);
  assert.is((await run(place, ['recipe', 'create', '../x'])).code, 2);
});

test('`test` fails if an example does not match, and `validate` names line and fault', async () => {
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, good.replace('saves: 30', 'saves: 99'));
  const failed = await run(place, ['recipe', 'test', 'my-tool.yaml']);
  assert.is(failed.code, 1);
  assert.match(failed.stdout, /it saves [\d.]+ %, not 99/);
  writeFileSync(file, good.replace('drop_lines', 'drop_linse'));
  const wrong = await run(place, ['recipe', 'validate', 'my-tool.yaml']);
  assert.is(wrong.code, 1);
  assert.match(wrong.stdout, /my-tool\.yaml:\d+: .*"drop_linse" is not an operation/);
  writeFileSync(file, 'name: my-tool\noperations: [dedupe\n');
  const broken = await run(place, ['recipe', 'validate', 'my-tool.yaml']);
  assert.is(broken.code, 1, 'a file that is not YAML has a fault like any other');
  assert.match(broken.stdout, /^ +my-tool\.yaml:\d+: /m);
  const used = await run(place, ['recipe', 'test', 'my-tool.yaml']);
  assert.match(used.stderr, /A recipe that cannot be used:\n {2}- my-tool\.yaml:\d+: /);
  assert.not.match(broken.stdout + broken.stderr + used.stderr, /load config/);
  writeFileSync(file, good);
});

test('a missing file is reported as such, and a folder without recipes fails a check', async () => {
  mkdirSync(join(place.folder, 'no recipes'));
  for (const args of [
    ['validate', 'nowhere.yaml'],
    ['validate', 'no recipes'],
    ['test', 'nowhere.yaml'],
    ['test', 'no recipes'],
    ['test', 'nobody'],
    ['show', 'nobody'],
    ['show', 'nowhere.yaml'],
    ['benchmark', 'my-tool.yaml', 'nowhere.log'],
    ['benchmark', 'nowhere.yaml', 'my-tool.yaml'],
  ]) {
    const { code, stdout, stderr } = await run(place, ['recipe', ...args]);
    assert.is(code, exitCodes.not_found, `${args.join(' ')}: ${stdout}${stderr}`);
    assert.match(stderr, /^error: There is no (?:file|recipe)/);
  }
  const folder = await run(place, ['recipe', 'benchmark', 'my-tool.yaml', 'no recipes']);
  assert.is(folder.code, exitCodes.bad_request);
  assert.match(folder.stderr, /no recipes cannot be read: it is a folder/);
});

test('`benchmark` measures the files of the author', async () => {
  const log = Array.from({ length: 40 }, (_, n) => `  step ${n}: did one of the many things`);
  writeFileSync(
    join(place.folder, 'out.log'),
    ['my-tool 1.0', ...log, 'error: x', 'Done'].join('\n'),
  );
  const ran = await run(place, [
    'recipe',
    'benchmark',
    'my-tool.yaml',
    'out.log',
    '--command',
    'my-tool',
    '--json',
  ]);
  const [row] = JSON.parse(ran.stdout) as [Record<string, unknown>];
  assert.ok(Number(row['saved_percent']) > 50, ran.stdout);
  assert.is(row['must_keep_lines'], 2);
  assert.is(row['must_keep_missing'], 0);
  assert.not.ok('text' in row);
  const shown = await run(place, [
    'recipe',
    'benchmark',
    'my-tool.yaml',
    'out.log',
    '--command=my-tool',
    '--show',
  ]);
  assert.match(
    shown.stdout,
    /that must stay are there, [\d.]+ ms\nmy-tool 1\.0\n[^]*\nerror: x\nDone\n\n$/,
  );
});

test('`benchmark` without files measures the examples of the recipe', async () => {
  const ran = await run(place, ['recipe', 'benchmark', 'my-tool.yaml']);
  assert.is(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /^example 1: \d+ → \d+ tokens \(−\d.*\), 2 of 2 lines that must stay/);
  const bundled = await run(place, ['recipe', 'benchmark', 'pytest', '--json']);
  const rows = JSON.parse(bundled.stdout) as Record<string, unknown>[];
  assert.ok(rows.length > 0);
  for (const row of rows) assert.ok(row['is_meant'], JSON.stringify(row));
  const without = await run(place, ['recipe', 'benchmark', 'my-tool.yaml', '--command', 'make']);
  assert.is(without.code, exitCodes.usage);
  assert.match(without.stderr, /there are none/);
  const bare = readFileSync(join(place.folder, 'my-tool.yaml'), 'utf8').split('\nexamples:')[0];
  writeFileSync(join(place.folder, 'bare.yaml'), `${bare}\n`);
  const none = await run(place, ['recipe', 'benchmark', 'bare.yaml']);
  assert.is(none.code, exitCodes.usage);
  assert.match(none.stderr, /bare\.yaml has no examples\n.*Name files/);
});

test('`test` names the tool that printed each example, and --show adds the compressed text', async () => {
  const tested = await run(place, ['recipe', 'test', 'pytest']);
  assert.match(tested.stdout, /^ok +pytest: pytest -v \S+ \(pytest \d[\d.]+\): /m);
  assert.match(
    (await run(place, ['recipe', 'test', 'kubectl-get'])).stdout,
    /\(kubectl get, made by hand\)/,
  );
  assert.not.match(tested.stdout, /1 failed, 85 passed/);
  const shown = await run(place, ['recipe', 'test', 'pytest', '--show']);
  assert.match(shown.stdout, /1 failed, 85 passed/);
  const [row] = JSON.parse(
    (await run(place, ['recipe', 'test', 'pytest', '--show', '--json'])).stdout,
  ) as [Record<string, unknown>];
  assert.match(String(row['from']), /^pytest \d/);
  assert.match(String(row['text']), /1 failed, 85 passed/);
});

test('the schema accepts every bundled recipe, and refuses an unknown operation', async () => {
  const printed = await run(place, ['recipe', 'schema']);
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(
    JSON.parse(printed.stdout) as object,
  );
  for (const one of recipeFiles(bundledFolder()))
    assert.ok(
      validate(parse(readFileSync(one, 'utf8'))),
      `${one}: ${JSON.stringify(validate.errors)}`,
    );
  assert.not.ok(validate(parse(newRecipe('x').replace('drop_lines', 'drop_linse'))));
});

test('`list`, `show` and `operations` print the recipes and the operations', async () => {
  const listed = await run(place, ['recipe', 'list', '--json']);
  assert.ok((JSON.parse(listed.stdout) as unknown[]).length >= 40);
  assert.match((await run(place, ['recipe', 'show', 'pytest'])).stdout, /^name: pytest/);
  const plugin =
    "{ name: 'shop', recipes: [{ name: 'pytest', match: { program: 'shop' }, operations: ['strip_ansi'] }] }";
  writeFileSync(join(place.folder, 'shop.mjs'), `export default ${plugin};`, { mode: 0o600 });
  mkdirSync(place.home, { mode: 0o700 });
  writeFileSync(
    join(place.home, 'config.yaml'),
    `plugins: [{ module: ${place.folder}/shop.mjs }]\n`,
  );
  const brought = JSON.parse((await run(place, ['recipe', 'list', '--json'])).stdout) as {
    name: string;
    from: string;
  }[];
  assert.equal(
    brought.filter(({ name }) => name === 'pytest').map(({ from }) => from),
    ['plugin shop'],
    'one of a plugin stands in the place of a bundled one, as in the proxy',
  );
  assert.match((await run(place, ['recipe', 'operations'])).stdout, /^keep_lines /m);
});

test.run();
