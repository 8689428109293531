/** The configuration for a command: the given one, else that of the running proxy. */
import type { LoadedConfig } from '../../server/config/load.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { configOf, toLoadOptions } from './flags.ts';

/**
 * Loads the configuration as a start with this `--config` and `--env-file` would. If neither is
 * given and a proxy runs with this home folder, uses that proxy's flags: its ledger, index and keys
 * are meant, in whatever folder the command is typed. Variables set only in the proxy's shell are
 * unknown.
 */
export async function configInUse(
  file: string | undefined,
  context: CliContext,
  envFile?: string,
): Promise<LoadedConfig> {
  const running =
    file === undefined && envFile === undefined ? runningInstance(homeOf(context)) : undefined;
  if (running === undefined) return configOf(file, context, envFile);
  const { loadConfig } = await import('../../server/config/load.ts');
  return loadConfig(toLoadOptions(running.flags, { ...context, cwd: running.cwd }));
}
