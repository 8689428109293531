/**
 * `svc recipe list|show|create|learn|validate|test|benchmark|operations|schema`: compression
 * recipes.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { counted, print } from '../screen/output.ts';
import type { SampleOrigin } from '../../stages/compress/recipe/try.ts';
import { recipeFileOf, recipeFilesAt } from './files.ts';
import { newRecipe } from './scaffold.ts';

class List extends JsonCommand {
  static override paths = [['recipe', 'list']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'All recipes in order; whether the bundled ones run',
    examples: [['Look', '$0 recipe list']],
  });

  async execute() {
    const { context } = this;
    const [{ config }, { configuredPlugins }, { knownRecipes }] = await Promise.all([
      configInUse(undefined, context),
      import('../../server/generation/configured-plugins.ts'),
      import('../../server/recipes/recipes.ts'),
    ]);
    const plugins = await configuredPlugins(config, context.clock);
    const known = await knownRecipes(config.compression.recipes, plugins);
    const rows = known.map(({ recipe: { name, description }, from, runs }) => ({
      name,
      from,
      runs,
      description,
    }));
    if (this.json) this.printJson(rows);
    else {
      for (const { name, from, description } of rows)
        this.print(`${name.padEnd(22)} ${from.padEnd(8)} ${description}`);
      if (![config.compression.recipes].flat().includes('bundled'))
        this.note('The bundled ones do not run; `compression.recipes: bundled` turns them on.');
    }
  }
}

class Show extends SvcCommand {
  static override paths = [['recipe', 'show']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The file of a bundled recipe',
    examples: [['A recipe to start from', '$0 recipe show pytest > my-pytest.yaml']],
  });

  name = Option.String({ name: 'name' });

  async execute() {
    const text = readInput(await recipeFileOf(this.name, this.context)).toString();
    for (const line of text.trimEnd().split('\n')) this.print(line);
  }
}

class Validate extends JsonCommand {
  static override paths = [['recipe', 'validate']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: "Check a recipe's file; list all that is wrong",
    examples: [
      ['A file', '$0 recipe validate my-tool.yaml'],
      ['All files of a folder', '$0 recipe validate ./recipes'],
    ],
  });

  file = Option.String({ name: 'file|folder' });

  async execute() {
    const { context } = this;
    const { recipeFaults } = await import('../../server/recipes/recipes.ts');
    const files = [];
    for (const file of await recipeFilesAt(resolve(context.cwd, this.file)))
      files.push({ file: relative(context.cwd, file), faults: await recipeFaults(file) });
    if (this.json) this.printJson(files);
    else {
      const { colors } = this;
      for (const { file, faults } of files) {
        this.print(faults.length === 0 ? `${file} ${colors.green('can be used')}` : file);
        for (const fault of faults) this.print(`  ${colors.red(fault)}`);
      }
    }
    return files.some(({ faults }) => faults.length > 0) ? 1 : 0;
  }
}

class Test extends JsonCommand {
  static override paths = [['recipe', 'test']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: "Run a recipe's own examples",
    details:
      'The recipe must change every example, keep each line that must_keep matches and each text in keeps, save at least as much as stated, and produce the stated output.',
    examples: [
      ['A file', '$0 recipe test my-tool.yaml'],
      ['A bundled recipe', '$0 recipe test pytest'],
      ['With the compressed form of each example', '$0 recipe test my-tool.yaml --show'],
    ],
  });

  file = Option.String({ name: 'file|folder|name' });
  show = Option.Boolean('--show', false, { description: 'Print the output too' });

  async execute() {
    const { context } = this;
    const [{ readRecipe }, { runExamples }, { savedPercent }] = await Promise.all([
      import('../../server/recipes/recipes.ts'),
      import('../../server/recipes/recipe-examples.ts'),
      import('../../stages/compress/recipe/try.ts'),
    ]);
    const rows = [];
    for (const file of await recipeFilesAt(await recipeFileOf(this.file, context))) {
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
          from: example.from,
          made: example.made,
          tokens_before: tried.tokensBefore,
          tokens_after: tried.tokensAfter,
          saved_percent: Math.round(savedPercent(tried) * 10) / 10,
          must_keep_lines: tried.mustKeepLines,
          faults,
          ...(this.show && { text: tried.text }),
        });
    }
    const failed = rows.filter(({ faults }) => faults.length > 0);
    if (this.json) this.printJson(rows);
    else {
      const { colors } = this;
      for (const row of rows) {
        const mark = row.faults.length === 0 ? colors.green('ok  ') : colors.red('FAIL');
        this.print(
          `${mark} ${row.recipe}: ${row.example} (${row.from}${row.made === 'hand' ? ', made by hand' : ''}): ${row.tokens_before} → ${row.tokens_after} tokens (−${row.saved_percent} %), ${counted(row.must_keep_lines, 'line')} that must stay`,
        );
        for (const fault of row.faults) this.print(`     ${fault}`);
        if (row.text !== undefined) printText(context, row.text);
      }
      this.print(
        `${rows.length - failed.length} of ${counted(rows.length, 'example')} ${rows.length === 1 ? 'holds' : 'hold'}`,
      );
    }
    return failed.length === 0 ? 0 : 1;
  }
}

class Create extends SvcCommand {
  static override paths = [['recipe', 'create']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Write a new recipe that works, with an example',
    examples: [['./my-tool.yaml', '$0 recipe create my-tool']],
  });

  name = Option.String({ name: 'name' });

  async execute() {
    const { context, name } = this;
    const { RECIPE_NAME } = await import('../../stages/compress/recipe/check.ts');
    if (!RECIPE_NAME.test(name))
      throw new SvcError('usage', `${JSON.stringify(name)} cannot be a recipe's name`, {
        cure: 'Names consist of lower-case letters, digits and -, such as my-tool.',
      });
    const file = resolve(context.cwd, `${name}.yaml`);
    if (existsSync(file))
      throw new SvcError('conflict', `${file} already exists; nothing was written`, {
        cure: 'Take another name.',
      });
    writeFileSync(file, newRecipe(name), { flag: 'wx' });
    this.print(`wrote ${name}.yaml`);
    this.print(`Test it: \`svc recipe test ${name}.yaml\``);
    this.print(`Use it: compression.recipes: [${name}.yaml, bundled]`);
  }
}

class Learn extends JsonCommand {
  static override paths = [['recipe', 'learn']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Learn a recipe from a long result, and judge it',
    details:
      'Of repetitive lines the recipe keeps the first and the last, and applies only if nothing failed. It is tried on every session of this machine and on the captures of its proxy: a line pattern that would remove a line that a model repeated later, or that names a failure, is dropped. Exit code 1 if nothing is left. Nothing is sent.',
    examples: [
      ['The output of a build', '$0 recipe learn build.log --command "shop build"'],
      ['Tried on sessions of a folder', '$0 recipe learn build.log --sessions ./sessions'],
    ],
  });

  file = Option.String({ name: 'file' });
  command = Option.String('--command', { description: 'The command that printed it' });
  name = Option.String('--name', { description: "The recipe's name; default: that of the file" });
  sessions = Option.String('--sessions', { description: 'A folder of sessions or captures' });
  config = Option.String('--config', { description: 'Config file' });
  seconds = Option.String('--seconds', {
    description: 'Begin no further file after these seconds (120)',
  });

  async execute() {
    const { file, command, name, sessions, config, seconds, json } = this;
    const { learnFrom } = await import('./learn.ts');
    const flags = { file, command, name, sessions, config, seconds, json };
    return (await learnFrom(flags, this.context)) ? 0 : 1;
  }
}

class Benchmark extends JsonCommand {
  static override paths = [['recipe', 'benchmark']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'What a recipe saves and keeps in your own files',
    details:
      "Each file is taken as what --command printed, else as a file that was read; without files, the recipe's own examples are measured. Counted are tokens, the lines that must_keep names, and the time of one run.",
    examples: [
      ['Logs', '$0 recipe benchmark my-tool.yaml *.log --command "my-tool build"'],
      ['Its own examples', '$0 recipe benchmark my-tool.yaml'],
    ],
  });

  recipe = Option.String({ name: 'file|name' });
  files = Option.Rest({ name: 'files' });
  command = Option.String('--command', { description: 'The command that printed them' });
  show = Option.Boolean('--show', false, { description: 'Print the output of each too' });

  async execute() {
    const { context, command, files } = this;
    if (files.length === 0 && command !== undefined)
      throw new SvcError('usage', '--command says what printed the files, and there are none', {
        cure: 'Name files, or leave it out: examples have commands of their own.',
      });
    const [{ readRecipe }, { exampleText }, { savedPercent, tryRecipe }] = await Promise.all([
      import('../../server/recipes/recipes.ts'),
      import('../../server/recipes/recipe-examples.ts'),
      import('../../stages/compress/recipe/try.ts'),
    ]);
    const recipeFile = await recipeFileOf(this.recipe, context);
    // A missing file is reported as such, not as a faulty recipe.
    readInput(recipeFile);
    const { recipe, examples } = await readRecipe(recipeFile);
    if (files.length === 0 && examples.length === 0)
      throw new SvcError('usage', `${relative(context.cwd, recipeFile)} has no examples`, {
        cure: 'Name files to measure it on.',
      });
    const measured = files.map((file) => {
      const path = resolve(context.cwd, file);
      const from: SampleOrigin = command === undefined ? { path } : { command };
      return { file, text: readInput(path).toString(), from };
    });
    const own = files.length > 0 ? [] : examples;
    for (const [index, from] of own.entries())
      measured.push({ file: `example ${index + 1}`, text: exampleText(from, recipeFile), from });
    const rows = measured.map(({ file, text, from }) => {
      // The first run loads modules that a proxy loads only once; that is not the recipe's own
      // time.
      tryRecipe(recipe, text, from);
      const startedMs = context.clock.monotonicMs();
      const tried = tryRecipe(recipe, text, from);
      return {
        file,
        class: tried.kind,
        is_meant: tried.isMeant,
        tokens_before: tried.tokensBefore,
        tokens_after: tried.tokensAfter,
        saved_percent: Math.round(savedPercent(tried) * 10) / 10,
        must_keep_lines: tried.mustKeepLines,
        must_keep_missing: tried.missing.length,
        ms: Math.round((context.clock.monotonicMs() - startedMs) * 10) / 10,
        skipped: tried.skipped ?? null,
        ...(this.show && { text: tried.text }),
      };
    });
    if (this.json) this.printJson(rows);
    else
      for (const row of rows) {
        this.print(
          row.is_meant
            ? `${row.file}: ${row.tokens_before} → ${row.tokens_after} tokens (−${row.saved_percent} %), ${row.must_keep_lines - row.must_keep_missing} of ${counted(row.must_keep_lines, 'line')} that must stay are there, ${row.ms} ms${row.skipped === null ? '' : `; ${row.skipped}`}`
            : `${row.file}: match does not apply; it is of class ${row.class}`,
        );
        if (row.text !== undefined) printText(context, row.text);
      }
    return rows.some((row) => row.must_keep_missing > 0) ? 1 : 0;
  }
}

class Schema extends SvcCommand {
  static override paths = [['recipe', 'schema']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The JSON Schema of recipes, for editors',
    examples: [['For an editor', '$0 recipe schema > recipe.schema.json']],
  });

  async execute() {
    const { recipeSchema } = await import('../../stages/compress/recipe/schema.ts');
    this.printJson(recipeSchema());
  }
}

class Operations extends JsonCommand {
  static override paths = [['recipe', 'operations']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'What a recipe can do, one operation per line',
    examples: [['Look', '$0 recipe operations']],
  });

  async execute() {
    const { OPERATIONS } = await import('../../stages/compress/recipe/operations.ts');
    if (this.json) {
      const operations = [...OPERATIONS].map(([name, { about }]) => ({ name, about }));
      return this.printJson({ operations });
    }
    for (const [name, { about }] of OPERATIONS) this.print(`${name.padEnd(22)} ${about}`);
  }
}

/** Prints the result line by line, followed by an empty line. */
function printText(context: CliContext, text: string): void {
  for (const line of [...text.trimEnd().split('\n'), '']) print(context, line);
}

export const commands = [List, Show, Create, Learn, Validate, Test, Benchmark, Operations, Schema];
