/** All macros: files of the home folder, and those of plugins. */
import { isSvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import { macroFiles, macroFolder, readMacro, refuseMacro } from '../../server/macros/macros.ts';
import type { Macro } from '../../stages/macros/macro.ts';
import { homeOf, shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { notFoundHere } from '../unknown-name.ts';

export interface MacroSource {
  readonly name: string;
  /** Its plugin; null for one of the home folder. */
  readonly plugin: string | null;
  /** Its file: YAML, or the plugin's module. */
  readonly file: string;
  /** Undefined if it is unusable. */
  readonly macro: Macro | undefined;
  /** Its faults, each with file and line. */
  readonly faults: readonly string[];
}

/** Returns the macro of the home folder; undefined if there is none of that name. */
export async function ownMacro(
  name: string,
  context: CliContext,
): Promise<MacroSource | undefined> {
  const folder = macroFolder(homeOf(context));
  const file = macroFiles.file(folder, name);
  try {
    const source = macroFiles.source(folder, name);
    if (source === undefined) return undefined;
    const read = await readMacro(name, source, shortPath(file, context));
    return { name, plugin: null, file, ...read };
  } catch (thrown) {
    // An unreadable file must not hide the others.
    if (!isSvcError(thrown)) throw thrown;
    return { name, plugin: null, file, macro: undefined, faults: [thrown.message] };
  }
}

/**
 * Returns the macros of the configured plugins, except those that the home folder overrides. Throws
 * if plugins cannot be loaded.
 */
export async function pluginMacros(
  config: Config,
  context: CliContext,
): Promise<readonly MacroSource[]> {
  const own = new Set(macroFiles.names(macroFolder(homeOf(context))));
  if (config.plugins.length === 0) return [];
  const { configuredPlugins } = await import('../../server/generation/configured-plugins.ts');
  const plugins = await configuredPlugins(config, context.clock);
  return plugins.flatMap(({ name: plugin, module, macros }) =>
    macros
      .filter(({ name }) => !own.has(name))
      .map((macro) => ({ name: macro.name, plugin, file: module, macro, faults: [] })),
  );
}

/** Returns the macros of the home folder, sorted by name. */
export async function ownMacros(context: CliContext): Promise<readonly MacroSource[]> {
  const names = macroFiles.names(macroFolder(homeOf(context)));
  const found = await Promise.all(names.map((name) => ownMacro(name, context)));
  return found.flatMap((one) => (one === undefined ? [] : [one]));
}

/** Returns the macro with this name. Throws `not_found` with the nearest name. */
export async function macroNamed(
  name: string,
  config: () => Promise<Config>,
  context: CliContext,
): Promise<MacroSource> {
  const own = await ownMacro(name, context);
  if (own !== undefined) return own;
  const fromPlugins = await pluginMacros(await config(), context);
  const found = fromPlugins.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = [
    ...macroFiles.names(macroFolder(homeOf(context))),
    ...fromPlugins.map((one) => one.name),
  ];
  throw notFoundHere(
    'macro',
    name,
    names,
    '`svc macro list` shows the existing ones; `svc macro create` makes one.',
  );
}

/** Returns a usable macro, or throws `bad_request` with all its faults. */
export function usable({ name, macro, faults }: MacroSource): Macro {
  return macro ?? refuseMacro(name, faults);
}
