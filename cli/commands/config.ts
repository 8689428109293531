/** `svc config show|path|init|schema|validate|reload|pull|sync` and `svc validate-config`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { isSvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import type { Fault } from '../../server/config/fault.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { toLoadOptions, toServeFlags } from '../parse/flags.ts';
import { writeOwnFile } from '../user-file.ts';
import { counted, isTerminal } from '../screen/output.ts';
import { configSourceCommands } from '../config-source/command.ts';
import { Reload } from './reload.ts';

abstract class ConfigOptions extends SvcCommand {
  config = Option.String('--config', {
    description: 'Config file, in place of ./proxy.yaml and ~/.svc/config.yaml',
  });
  envFile = Option.String('--env-file', { description: 'File of NAME=value lines to read' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  loadOptions(config: string | undefined = this.config) {
    const flags = toServeFlags({ port: undefined, config, envFile: this.envFile }, this.context);
    return toLoadOptions(flags, this.context);
  }

  async load(): Promise<LoadedConfig> {
    const { loadConfig } = await import('../../server/config/load.ts');
    return loadConfig(this.loadOptions());
  }
}

class Show extends ConfigOptions {
  static override paths = [['config', 'show']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Every setting: its value, and where it came from',
    examples: [
      ['All settings', '$0 config show'],
      ['Only what has been set', '$0 config show --changed'],
      [
        'As a start with these files would see them',
        '$0 config show --config proxy.yaml --env-file .env',
      ],
    ],
  });

  changed = Option.Boolean('--changed', false, { description: 'Leave defaults out' });

  async execute() {
    const loaded = await this.load();
    const { showConfig } = await import('../../server/config/show.ts');
    const rows = showConfig(loaded, { changedOnly: this.changed });
    if (this.json)
      return this.printJson({
        config_file: loaded.configFile ?? null,
        settings: rows,
        warnings: loaded.warnings,
      });
    // Someone who copies a path from a file or a pipe needs all of it.
    const max = isTerminal(this.context.stdout) ? 60 : Number.POSITIVE_INFINITY;
    const cut = (text: string) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
    this.printTable(
      ['setting', 'value', 'from'],
      rows.map((row) => [
        row.key,
        cut(row.text),
        row.source === 'default' ? this.colors.dim('default') : `${row.source} ${row.where}`.trim(),
      ]),
    );
    for (const warning of loaded.warnings) this.note(`! ${warning}`);
    if (rows.length === 0) this.note('Nothing is set: every setting has its default.');
  }
}

class Path extends ConfigOptions {
  static override paths = [['config', 'path']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The config file that is read',
    examples: [['Open it', '${EDITOR:-vi} "$($0 config path)"']],
  });

  async execute() {
    const { home } = this;
    const candidates = [join(this.context.cwd, 'proxy.yaml'), join(home, 'config.yaml')];
    const named = this.loadOptions().configPath;
    const path = named ?? candidates.find((one) => existsSync(one)) ?? join(home, 'config.yaml');
    const exists = existsSync(path);
    if (this.json) this.printJson({ path, exists });
    else this.print(path);
    if (!exists) {
      const cure = named === undefined ? '; `svc config init` writes it' : '';
      this.note(`It does not exist${cure}.`);
    }
  }
}

class Init extends SvcCommand {
  static override paths = [['config', 'init']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Write a config file with every setting, commented out',
    examples: [
      ['Write ~/.svc/config.yaml', '$0 config init'],
      ['Start afresh', '$0 config init --force'],
    ],
  });

  force = Option.Boolean('--force', false, { description: 'Overwrite an existing file' });
  json = Option.Boolean('--json,--raw', false, { description: 'Print JSON' });

  async execute() {
    const { freshConfig } = await import('../../server/config/init.ts');
    const path = join(this.home, 'config.yaml');
    writeOwnFile(path, freshConfig(), this.force, {
      message: `${shortPath(path, this.context)} exists already`,
      cure: '`svc config init --force` overwrites it.',
    });
    if (this.json) return this.printJson({ path, written: true });
    this.print(path);
    this.note('Every setting is in it, commented out. `svc config validate` checks your changes.');
  }
}

class Schema extends SvcCommand {
  static override paths = [['config', 'schema']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The JSON Schema of the config file, for editors',
    details:
      'An editor with YAML schemas completes and explains every setting of a file whose first line is `# yaml-language-server: $schema=config.schema.json`.',
    examples: [['Beside the config file', '$0 config schema > ~/.svc/config.schema.json']],
  });

  async execute() {
    const { configJsonSchema } = await import('../../server/config/schema.ts');
    this.printJson(await configJsonSchema());
  }
}

/** Checks one file, or the configuration that a start would read. */
abstract class Check extends ConfigOptions {
  async check(file: string | undefined): Promise<number> {
    const { context } = this;
    const { inspectConfig } = await import('../../server/config/load.ts');
    const { loaded, faults } = await inspectConfig(this.loadOptions(file ?? this.config));
    const checked = loaded?.configFile ?? file ?? this.config ?? null;
    const all = [
      ...faults,
      ...(await startFaults(loaded, this.context.clock.wallMs())),
      ...(await codeFaults(loaded, context)),
    ];
    if (this.json) this.printJson(resultJson(checked, all, loaded));
    else this.printChecked(checked, all, loaded);
    return all.length === 0 ? 0 : exitCodes.config;
  }

  private printChecked(
    checked: string | null,
    faults: readonly Fault[],
    loaded: LoadedConfig | undefined,
  ): void {
    const { colors } = this;
    const what = checked === null ? 'The configuration' : shortPath(checked, this.context);
    for (const warning of loaded?.warnings ?? []) this.note(`! ${warning}`);
    if (faults.length === 0) return this.print(`${colors.green('ok')} ${what} is valid`);
    for (const fault of faults) this.print(`${colors.red('✗')} ${fault.text}`);
    this.note(`${what} has ${counted(faults.length, 'fault')}.`);
  }
}

/** Returns what a start would refuse although the settings are valid. */
async function startFaults(
  loaded: LoadedConfig | undefined,
  nowMs: number,
): Promise<readonly Fault[]> {
  if (loaded === undefined) return [];
  const [{ openBindFaults }, { ownPrices }] = await Promise.all([
    import('../../server/gate/open-bind.ts'),
    import('../../server/generation/providers.ts'),
  ]);
  const faults = openBindFaults(loaded, nowMs);
  try {
    ownPrices(loaded.config);
    return faults;
  } catch (thrown) {
    if (!isSvcError(thrown) || thrown.kind !== 'config') throw thrown;
    const where = loaded.config.home;
    return [...faults, { key: 'prices', source: 'file', where, text: thrown.message }];
  }
}

/** Returns the faults of code and files named by the configuration, and of the graph. */
async function codeFaults(
  loaded: LoadedConfig | undefined,
  context: CliContext,
): Promise<readonly Fault[]> {
  if (loaded === undefined) return [];
  const { config } = loaded;
  const faults =
    config.plugins.length + config.customProviders.length === 0
      ? []
      : await moduleFaults(config, context);
  // Without its plugins the graph would be different.
  return faults.length > 0 ? faults : graphFaults(loaded, context);
}

/** Returns one fault per module. */
async function moduleFaults(config: Config, { clock }: CliContext): Promise<readonly Fault[]> {
  const { listPlugins } = await import('../plugin/list.ts');
  const listed = await listPlugins(config, clock);
  const custom = new Map(config.customProviders.map(({ module, name }) => [module, name]));
  return listed.flatMap(({ name, module, fault }) => {
    if (fault === null) return [];
    const key = name !== null && custom.get(module) === name ? 'custom_providers' : 'plugins';
    const owner = key === 'plugins' ? '' : `${name}: `;
    return [{ key, source: 'file', where: module, text: `${key}: ${owner}${fault}` }];
  });
}

async function graphFaults(
  { config, configFile: where = '' }: LoadedConfig,
  { env }: CliContext,
): Promise<readonly Fault[]> {
  const { compiledGraph } = await import('../../server/generation/compile-only.ts');
  const toFault = (key: string, text: string): Fault => ({ key, source: 'file', where, text });
  try {
    const { warnings } = await compiledGraph(config, env);
    return warnings.map((warning) => toFault('plugins', warning));
  } catch (thrown) {
    if (!isSvcError(thrown) || thrown.kind !== 'config') throw thrown;
    // One fault per line, below the common title.
    const [title = '', ...list] = thrown.message.split('\n  - ');
    return (list.length === 0 ? [title] : list).map((text) => toFault('graph', text));
  }
}

class Validate extends Check {
  static override paths = [['config', 'validate']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Check the configuration; list all that is wrong',
    details:
      'Without a file it checks what a start would read: file, environment, flags. Plugins and recipes are loaded and the graph is compiled, as `svc graph` shows it.',
    examples: [
      ['What a start here would read', '$0 config validate'],
      ['One file', '$0 config validate proxy.yaml'],
    ],
  });

  file = Option.String({ required: false });

  execute() {
    return this.check(this.file);
  }
}

class ValidateConfig extends Check {
  static override paths = [['validate-config']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'The same as `svc config validate <file>`',
    examples: [['Check a file before it is used', '$0 validate-config proxy.yaml']],
  });

  file = Option.String();

  execute() {
    return this.check(this.file);
  }
}

function resultJson(
  file: string | null,
  faults: readonly Fault[],
  loaded: LoadedConfig | undefined,
) {
  return {
    valid: faults.length === 0,
    file,
    faults,
    warnings: loaded?.warnings ?? [],
  };
}

export const commands = [
  Show,
  Path,
  Init,
  Schema,
  Validate,
  Reload,
  ...configSourceCommands,
  ValidateConfig,
];
