/** `svc recipe list|show|validate|test`: recipes of compression. */
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { toLoadOptions } from '../flags.ts';
import { colorsFor, counted, print, printJson } from '../output.ts';
import type { CliCommand } from '../registry.ts';

class List extends Command<CliContext> {
  static override paths = [['recipe', 'list']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The recipes that compression runs, in their order',
    examples: [['Look', '$0 recipe list']],
  });

  json = Option.Boolean('--json', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const [{ loadConfig }, { bundledRecipes, readRecipes }] = await Promise.all([
      import('../../server/config/load.ts'),
      import('../../server/recipes.ts'),
    ]);
    const { config } = await loadConfig(toLoadOptions({}, context));
    const named = [config.compression.recipes].flat();
    const own = await readRecipes(named.filter((one) => one !== 'bundled' && one !== 'off'));
    const bundled = named.includes('bundled') ? bundledRecipes() : [];
    const taken = new Set(own.map(({ name }) => name));
    const rows = [
      ...own.map((one) => ({ ...one, from: 'own' })),
      ...bundled.filter(({ name }) => !taken.has(name)).map((one) => ({ ...one, from: 'bundled' })),
    ].map(({ name, description, from }) => ({ name, from, description }));
    if (this.json) printJson(context, rows);
    else if (rows.length === 0) print(context, 'No recipes run: compression.recipes is off.');
    else
      for (const { name, from, description } of rows)
        print(context, `${name.padEnd(22)} ${from.padEnd(8)} ${description}`);
    return 0;
  }
}

class Show extends Command<CliContext> {
  static override paths = [['recipe', 'show']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'A bundled recipe as its file has it',
    examples: [['A recipe to begin with', '$0 recipe show pytest > my-pytest.yaml']],
  });

  name = Option.String({ name: 'name' });

  async execute() {
    print(this.context, readFileSync(await fileOf(this.name, this.context), 'utf8').trimEnd());
    return 0;
  }
}

class Validate extends Command<CliContext> {
  static override paths = [['recipe', 'validate']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: "Check a recipe's file, and say everything that is wrong with it",
    examples: [
      ['A file', '$0 recipe validate my-tool.yaml'],
      ['All files of a folder', '$0 recipe validate ./recipes'],
    ],
  });

  file = Option.String({ name: 'file|folder' });

  async execute() {
    const { context } = this;
    const { recipeFaults, recipeFiles } = await import('../../server/recipes.ts');
    const colors = colorsFor(context.stdout, context.env);
    let code = 0;
    for (const file of recipeFiles(resolve(context.cwd, this.file))) {
      const faults = await recipeFaults(file);
      const shown = relative(context.cwd, file);
      print(context, faults.length === 0 ? `${shown} ${colors.green('can be used')}` : shown);
      for (const fault of faults) print(context, `  ${colors.red(fault)}`);
      if (faults.length > 0) code = 1;
    }
    return code;
  }
}

class Test extends Command<CliContext> {
  static override paths = [['recipe', 'test']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: "Run a recipe's own examples",
    details:
      'Every example must be changed by the recipe, keep each line that must_keep names and each text of keeps, save as much as it says, and give the output that it has.',
    examples: [
      ['A file', '$0 recipe test my-tool.yaml'],
      ['A bundled recipe', '$0 recipe test pytest'],
    ],
  });

  file = Option.String({ name: 'file|folder|name' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  async execute() {
    const { context } = this;
    const [{ readRecipe, recipeFiles }, { runExamples }, { savedPercent }] = await Promise.all([
      import('../../server/recipes.ts'),
      import('../../server/recipe-examples.ts'),
      import('../../stages/compress/recipe/try.ts'),
    ]);
    const rows = [];
    for (const file of recipeFiles(await fileOf(this.file, context))) {
      const read = await readRecipe(file);
      const ran = runExamples(read, file);
      if (ran.length === 0)
        throw new SvcError('usage', `${relative(context.cwd, file)} has no examples`, {
          cure: 'Add examples: each has from, made, a command, and input or file.',
        });
      for (const { example, tried, faults } of ran)
        rows.push({
          recipe: read.recipe.name,
          example: example.command ?? example.path ?? example.tool ?? '',
          made: example.made,
          tokens_before: tried.tokensBefore,
          tokens_after: tried.tokensAfter,
          saved_percent: Math.round(savedPercent(tried) * 10) / 10,
          must_keep_lines: tried.mustKeepLines,
          faults,
        });
    }
    const failed = rows.filter(({ faults }) => faults.length > 0);
    if (this.json) printJson(context, rows);
    else {
      const colors = colorsFor(context.stdout, context.env);
      for (const row of rows) {
        const mark = row.faults.length === 0 ? colors.green('ok  ') : colors.red('FAIL');
        print(
          context,
          `${mark} ${row.recipe}: ${row.example}: ${row.tokens_before} → ${row.tokens_after} tokens (−${row.saved_percent} %), ${counted(row.must_keep_lines, 'line')} that must stay`,
        );
        for (const fault of row.faults) print(context, `     ${fault}`);
      }
      print(context, `${rows.length - failed.length} of ${counted(rows.length, 'example')} hold`);
    }
    return failed.length === 0 ? 0 : 1;
  }
}

/** A path as it was typed, or the file of the bundled recipe with that name. */
async function fileOf(typed: string, context: CliContext): Promise<string> {
  const { bundledFolder, bundledRecipes } = await import('../../server/recipes.ts');
  const isBundled = bundledRecipes().some(({ name }) => name === typed);
  return isBundled ? join(bundledFolder(), `${typed}.yaml`) : resolve(context.cwd, typed);
}

export const recipeCommands: readonly CliCommand[] = [List, Show, Validate, Test];
