/** Loads the configured plugins, for callers that need no graph. */
import type { Clock } from '../../engine/index.ts';
import { loadPlugins } from '../../plugins/load-plugins.ts';
import type { LoadedPlugin } from '../../plugins/load-plugins.ts';
import { createView } from '../../plugins/view.ts';
import type { Config } from '../config/config.ts';

const SILENT = { info: () => undefined, warning: () => undefined, error: () => undefined };

/** Throws `config` with the faults of each unusable plugin. */
export async function configuredPlugins(
  { plugins }: Pick<Config, 'plugins'>,
  clock: Clock,
): Promise<readonly LoadedPlugin[]> {
  if (plugins.length === 0) return [];
  const { view } = createView(clock, SILENT);
  return loadPlugins(plugins, { clock, view, report: () => undefined });
}
