/** `--plugin FILE --settings YAML`: plugins that a command uses besides the configured ones. */
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { readAuthored } from '../../server/config/authored-yaml.ts';
import type { Config } from '../../server/config/config.ts';

export const PLUGIN_SETTINGS =
  '`config` of a --plugin, as YAML or JSON; repeat in the order of the plugins';

/**
 * Loads the typed plugins. The first settings belong to the first plugin, and so on; plugins
 * without settings get none.
 */
export async function typedPlugins(
  paths: readonly string[],
  settings: readonly string[],
  cwd: string,
): Promise<Config['plugins']> {
  if (settings.length > paths.length)
    throw new SvcError('usage', '--settings belongs to a --plugin', {
      cure: 'Name the plugin with --plugin; those of the configuration have their settings there.',
    });
  const read = await Promise.all(settings.map((typed) => settingsOf(typed)));
  return paths.map((path, at) => ({
    module: resolve(cwd, path),
    ...(at < read.length && { config: read[at] }),
  }));
}

/** Parses settings like the config file, so that the same text works in both. */
export async function settingsOf(typed: string): Promise<unknown> {
  const { read, faults } = await readAuthored(typed, 'text', (data) => ({ ok: true, data }));
  if (read !== undefined) return read.data;
  throw new SvcError('usage', `--settings is not valid YAML: ${faults.join('; ')}`);
}
