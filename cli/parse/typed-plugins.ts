/** `--plugin FILE --settings YAML`: plugins that a command runs besides the configured ones. */
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';

export const PLUGIN_SETTINGS =
  'What would stand under `config` of a --plugin, as YAML or JSON; of several, in their order';

/** The first settings belong to the first plugin, and so on; one without any gets none. */
export function typedPlugins(
  paths: readonly string[],
  settings: readonly string[],
  cwd: string,
): Config['plugins'] {
  if (settings.length > paths.length)
    throw new SvcError('usage', '--settings belongs to a --plugin', {
      cure: 'Name the plugin with --plugin; those of the configuration have their settings there.',
    });
  return paths.map((path, at) => ({
    module: resolve(cwd, path),
    ...(settings[at] !== undefined && { config: settingsOf(settings[at]) }),
  }));
}

export function settingsOf(typed: string): unknown {
  try {
    return parse(typed) as unknown;
  } catch (cause) {
    throw new SvcError(
      'usage',
      `--settings is no YAML: ${(cause as Error).message.split('\n')[0]}`,
      { cause },
    );
  }
}
