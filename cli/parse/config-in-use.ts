/** The configuration that a command goes by: the one that was named, else that of the proxy that runs. */
import type { LoadedConfig } from '../../server/config/load.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { configOf, toLoadOptions } from './flags.ts';

/**
 * The configuration as a start with this `--config` and `--env-file` would read it. Where neither was
 * given and a proxy runs with this home folder, as it was started: its ledger, index and keys are
 * meant, whatever folder the command is typed in. Variables that only its own shell has are not known.
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
