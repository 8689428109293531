/**
 * `svc macro list|run|create|show|delete|actions`: named sequences of recipes and engine actions.
 */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import { macroFiles, macroFolder, readMacro, refuseMacro } from '../../server/macros/macros.ts';
import type { Macro } from '../../stages/macros/macro.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { writeOwnFile } from '../user-file.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { toWhole } from '../parse/flags.ts';
import { reasonWords } from '../preview/reasons.ts';
import { counted, writeLine } from '../screen/output.ts';
import { toValues, variablesJson } from '../variables.ts';
import { macroNamed, ownMacro, ownMacros, pluginMacros, usable } from './all-macros.ts';
import type { MacroSource } from './all-macros.ts';
import type { StepReport } from './run.ts';

const CONFIG = { description: 'Config file, for recipes and plugins' };

/** Loads the configuration on first use. */
function lazyConfig(file: string | undefined, context: CliContext): () => Promise<Config> {
  let loaded: Promise<Config> | undefined;
  return () => (loaded ??= configInUse(file, context).then(({ config }) => config));
}

const variablesText = ({ variables }: Macro): string =>
  variables
    .map((each) => (each.default === undefined ? each.name : `${each.name}=${each.default}`))
    .join(', ');

class List extends JsonCommand {
  static override paths = [['macro', 'list']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The macros, their variables and their sources',
    details: 'The exit code is 1 if one of them cannot be used.',
    examples: [['Look', '$0 macro list']],
  });

  config = Option.String('--config', CONFIG);

  async execute() {
    const { context } = this;
    const own = await ownMacros(context);
    let loadError: string | undefined;
    const fromPlugins = await lazyConfig(this.config, context)()
      .then((config) => pluginMacros(config, context))
      .catch((thrown: unknown): MacroSource[] => {
        if (!(thrown instanceof SvcError)) throw thrown;
        loadError = thrown.message;
        return [];
      });
    const found = [...own, ...fromPlugins];
    if (this.json)
      this.printJson({ macros: found.map(foundJson), plugin_fault: loadError ?? null });
    else if (found.length === 0)
      this.note('There is no macro; `svc macro create NAME` writes one that works.');
    else {
      this.printTable(
        ['name', 'from', 'variables', ''],
        found.map(({ name, plugin, macro, faults }) => [
          name,
          plugin === null ? 'own' : `plugin ${plugin}`,
          macro === undefined ? '' : variablesText(macro),
          macro === undefined ? `cannot be used: ${faults.join('; ')}` : aboutOf(macro),
        ]),
      );
    }
    if (loadError !== undefined)
      for (const line of `! Macros of plugins are not listed. ${loadError}`.split('\n'))
        this.note(line);
    return loadError !== undefined || found.some(({ macro }) => macro === undefined) ? 1 : 0;
  }
}

/** Returns the author's description, or the actions. */
function aboutOf({ description, steps }: Macro): string {
  return description === '' ? steps.map(({ action }) => action).join(', ') : description;
}

function foundJson({ name, plugin, file, macro, faults }: MacroSource) {
  return {
    name,
    origin: plugin === null ? 'own' : 'plugin',
    plugin,
    file,
    description: macro?.description ?? null,
    variables: macro === undefined ? [] : variablesJson(macro.variables),
    steps: macro?.steps.length ?? null,
    stage:
      macro?.steps.some(({ action }) => action === 'recipes' || action === 'settings') ?? false,
    faults,
  };
}

class Show extends JsonCommand {
  static override paths = [['macro', 'show']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The file of a macro',
    examples: [
      ['Look', '$0 macro show rule-out'],
      ['A copy to change', '$0 macro show rule-out > my-macro.yaml'],
    ],
  });

  name = Option.String({ name: 'name' });
  config = Option.String('--config', CONFIG);

  async execute() {
    const { context } = this;
    const found = await macroNamed(this.name, lazyConfig(this.config, context), context);
    if (this.json) {
      const { macro } = found;
      const steps = macro?.steps.map(({ action, values }) => ({ [action]: values })) ?? null;
      this.printJson({ ...foundJson(found), steps });
    } else {
      for (const line of (await sourceOf(found)).trimEnd().split('\n'))
        writeLine(context.stdout, line);
      for (const fault of found.faults) this.note(`! ${fault}`);
    }
    return found.macro === undefined ? 1 : 0;
  }
}

/** Returns the text of the file, or the equivalent for a plugin's macro. */
async function sourceOf({ plugin, file, macro }: MacroSource): Promise<string> {
  if (plugin === null || macro === undefined) return readInput(file).toString();
  const { stringify } = await import('yaml');
  const { name: _, variables, steps, ...rest } = macro;
  return stringify({
    ...rest,
    ...(variables.length > 0 && {
      variables: Object.fromEntries(variables.map(({ name, ...one }) => [name, one])),
    }),
    steps: steps.map(({ action, values }) =>
      Object.keys(values).length === 0 ? action : { [action]: values },
    ),
  });
}

class Create extends SvcCommand {
  static override paths = [['macro', 'create']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Store a new macro, from a file or from steps',
    details:
      'Macros are files that you may edit: `~/.svc/macros/NAME.yaml`. A faulty macro is not saved. `svc macro actions` lists what a step can do.',
    examples: [
      ['A working one, to be edited', '$0 macro create rule-out'],
      ['From a file', '$0 macro create before-demo before-demo.yaml'],
      ['From steps', '$0 macro create quiet --step resume --step "debug: { on: false }"'],
    ],
  });

  name = Option.String({ name: 'name' });
  file = Option.String({ name: 'file', required: false });
  steps = Option.Array('--step', [], {
    description: 'A step, as written in the file; may be repeated',
  });
  force = Option.Boolean('--force', false, { description: 'Replace an existing one of that name' });

  async execute() {
    const { context, name } = this;
    const path = macroFiles.file(macroFolder(this.home), name);
    const source = await this.source();
    const file = this.file === '-' ? 'stdin' : this.file;
    const fileName = file ?? (this.steps.length > 0 ? '--step' : `${name}.yaml`);
    const { macro, faults } = await readMacro(name, source, fileName);
    if (macro === undefined)
      refuseMacro(
        name,
        faults.map((fault) => this.withStep(fault)),
      );
    writeOwnFile(path, source, this.force, {
      message: `There is a macro ${name} already`,
      cure: '--force replaces it.',
    });
    this.print(`wrote ${shortPath(path, context)}, with ${counted(macro.steps.length, 'step')}`);
    this.print(`Try it: \`svc macro run ${name} --dry-run\``);
  }

  /** Typed steps have no lines: each counts as one line below `steps:`. */
  private withStep(fault: string): string {
    return fault.replace(
      /^--step:(\d+)/,
      (_, line: string) => `--step ${Math.min(Number(line) - 1, this.steps.length)}`,
    );
  }

  private async source(): Promise<string> {
    const { context, file, steps, name } = this;
    if (file !== undefined && steps.length > 0)
      throw new SvcError('usage', 'A file and --step exclude each other');
    if (file === '-') return textOfStream(context.stdin);
    if (file !== undefined) return readInput(resolve(context.cwd, file)).toString();
    const { newMacro } = await import('./scaffold.ts');
    if (steps.length === 0) return newMacro(name);
    return `steps:\n${steps.map((step) => `  - ${step.replaceAll('\n', ' ')}\n`).join('')}`;
  }
}

class Delete extends SvcCommand {
  static override paths = [['macro', 'delete']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Delete a macro of yours',
    examples: [['Delete it', '$0 macro delete quiet']],
  });

  name = Option.String({ name: 'name' });

  async execute() {
    const { context, name } = this;
    const own = await ownMacro(name, context);
    if (own === undefined) {
      const { plugin } = await macroNamed(name, lazyConfig(undefined, context), context);
      throw new SvcError('conflict', `Macro ${name} comes from the plugin ${plugin}`, {
        cure: 'It is part of a plugin, which is listed under `plugins` in the configuration.',
      });
    }
    rmSync(own.file);
    this.print(`deleted ${shortPath(own.file, context)}`);
  }
}

class Run extends JsonCommand {
  static override paths = [['macro', 'run']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Run the steps of a macro, or show what they would do',
    details:
      'A macro of recipes and settings is a stage: it is run on a file as on a tool result, and what would be sent is printed. Other macros are checked as far as possible before the first step. The first step that fails ends the run: completed steps stay and are listed with the way to undo them, and --from resumes. The exit code is that of the failure.',
    examples: [
      ['What it would do', '$0 macro run rule-out --dry-run'],
      ['With a value', '$0 macro run rule-out --var logs=false'],
      ['Continue after a failed step', '$0 macro run rule-out --from 2'],
      ['A stage, on a file', '$0 macro run builds build.log --command "make -j4"'],
    ],
  });

  name = Option.String({ name: 'name' });
  file = Option.String({ name: 'file', required: false });
  command = Option.String('--command', {
    description: 'The command that printed the file, for a macro that is a stage',
  });
  vars = Option.Array('--var', [], { description: 'A value, as name=value; may be repeated' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Do nothing, show every step' });
  from = Option.String('--from', { description: 'The step to begin with, from 1' });
  replace = Option.Boolean('--replace', false, {
    description: 'Allow it to replace existing files',
  });
  config = Option.String('--config', CONFIG);

  async execute() {
    const { context, name } = this;
    const config = lazyConfig(this.config, context);
    const found = await macroNamed(name, config, context);
    const macro = usable(found);
    const [{ fillMacro }, { isStageStep, stagePhrases, stageStepsOf }, { runSteps }] =
      await Promise.all([
        import('../../stages/macros/values.ts'),
        import('../../stages/macros/stage-steps.ts'),
        import('./run.ts'),
      ]);
    const all = fillMacro(macro, toValues(this.vars));
    const stage = stageStepsOf(all);
    if (stage !== undefined) {
      await this.runStage(await config(), stagePhrases(stage));
      return;
    }
    if (this.file !== undefined || this.command !== undefined)
      throw new SvcError('usage', `Macro ${name} is not a stage and takes no file`);
    const steps = all.filter((step) => !isStageStep(step));
    const from = this.from === undefined ? 1 : toWhole(this.from, '--from', 1, steps.length);
    const { dim } = this.colors;
    const width = Math.max(...steps.map(({ action }) => action.length));
    const label = ({ step, action }: StepReport) =>
      `${dim(`${String(step).padStart(String(steps.length).length)} of ${steps.length}`)}  ${action.padEnd(width)}`;
    const report = await runSteps(steps, {
      name,
      context,
      config,
      from,
      isDryRun: this.dryRun,
      replaces: this.replace,
      onDone: (done, { lines = [] }) => {
        if (this.json) return;
        this.print(`${label(done)}  ${done.said}`);
        for (const line of lines) writeLine(context.stdout, `    ${line}`);
      },
    });
    if (this.json)
      this.printJson({
        macro: name,
        origin: found.plugin === null ? 'own' : 'plugin',
        plugin: found.plugin,
        dry_run: this.dryRun,
        ok: report.error === undefined,
        steps: report.steps,
        error: report.error?.message ?? null,
      });
    else if (this.dryRun) {
      for (const one of report.steps)
        this.print(
          `${label(one)}  ${one.state === 'would_run' ? `would ${one.does}` : 'is skipped'}`,
        );
    }
    if (report.error !== undefined) throw report.error;
    if (!this.json)
      this.note(
        this.dryRun
          ? 'Nothing was done. The checks before a run have passed.'
          : `${name}: ${counted(steps.length - from + 1, 'step')} done`,
      );
  }

  /** The output of a stage macro goes to standard output, the savings to standard error. */
  private async runStage(config: Config, about: readonly string[]) {
    const { context, name, file, command } = this;
    if (this.from !== undefined || this.replace || this.vars.length > 0)
      throw new SvcError(
        'usage',
        `Macro ${name} is a stage: no --from, no --replace, and its variables have their defaults`,
      );
    if (this.dryRun) {
      if (this.json) this.printJson({ macro: name, stage: true, does: about });
      else for (const phrase of about) this.print(phrase);
      return;
    }
    const { runStage } = await import('./run-stage.ts');
    const made = await runStage({ name, file, command, config, context });
    const { text, by, reason, tokensBefore, tokensAfter } = made;
    if (this.json)
      this.printJson({
        macro: name,
        stage: true,
        file: made.file,
        by,
        unchanged_because: reason,
        tokens_before: tokensBefore,
        tokens_after: tokensAfter,
        text,
      });
    else {
      context.stdout.write(text);
      const what = reason === null ? `by ${by.join(', ')}` : `unchanged: ${reasonWords(reason)}`;
      this.note(`${made.file}: ${tokensBefore} → ${tokensAfter} tokens, ${what}`);
    }
  }
}

class Actions extends JsonCommand {
  static override paths = [['macro', 'actions']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'What a step of a macro can do, and what it takes',
    examples: [['Look', '$0 macro actions']],
  });

  async execute() {
    const { ACTIONS, actionOf, isActionName } = await import('../../stages/macros/actions.ts');
    const actions = Object.keys(ACTIONS)
      .filter(isActionName)
      .map((name) => ({ name, ...actionOf(name) }));
    if (this.json)
      return this.printJson({
        actions: actions.map(({ name, about, params, undo, needsProxy }) => ({
          name,
          about,
          params,
          undo,
          needs_proxy: needsProxy,
        })),
      });
    this.printTable(
      ['action', 'takes', ''],
      actions.map(({ name, params, about }) => [
        name,
        Object.entries(params)
          .map(([param, { default: standard }]) => (standard === undefined ? param : `[${param}]`))
          .join(' '),
        about,
      ]),
    );
  }
}

export const commands = [List, Run, Create, Show, Delete, Actions];
