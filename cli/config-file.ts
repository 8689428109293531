/** Replaces the user's config file: checked first, and restored if the proxy refuses it. */
import { SvcError } from '../engine/error.ts';
import { ensureHome } from '../server/config/home.ts';
import type { LoadedConfig } from '../server/config/load.ts';
import type { CliContext } from './context.ts';
import { runningInstance } from './process/daemon.ts';
import { toLoadOptions } from './parse/flags.ts';
import { keepBackup } from './integrate/records.ts';
import { removeSettingsFile, replaceSettingsFile } from './integrate/settings-file.ts';
import type { SettingsFile } from './integrate/settings-file.ts';
import { control } from './remote.ts';

/**
 * Returns what a start would read with `text` as the config file.
 *
 * @throws SvcError `config` with every fault.
 */
export async function loadWithText(
  text: string,
  { path }: SettingsFile,
  context: CliContext,
): Promise<LoadedConfig> {
  const [{ loadConfig }, { readConfigFile }] = await Promise.all([
    import('../server/config/load.ts'),
    import('../server/config/read-file.ts'),
  ]);
  return loadConfig({
    ...toLoadOptions({}, context),
    configPath: path,
    readFile: (one, max) => (one === path ? { text, mode: 0o600 } : readConfigFile(one, max)),
  });
}

/**
 * Replaces `file` with `text`, with mode 0600 and a copy of the previous content, and makes a
 * running proxy read it. If the proxy refuses, the previous file is restored.
 *
 * @throws SvcError the proxy's error, or `config` if the file cannot be written.
 */
export async function replaceConfigFile(
  text: string,
  file: SettingsFile,
  home: string,
  context: CliContext,
): Promise<{ readonly backup: string | null; readonly reloaded: boolean }> {
  ensureHome(home);
  const at = new Date(context.clock.wallMs()).toISOString().replaceAll(/[:.]/g, '-');
  const { bytes: former = Buffer.alloc(0) } = file;
  const backup = former.length === 0 ? null : keepBackup(home, `config-${at}.yaml`, former);
  const bytes = Buffer.from(text);
  replaceSettingsFile({ ...file, mode: 0o600 }, bytes);
  if (runningInstance(home) === undefined) return { backup, reloaded: false };
  try {
    await control(home, 'reload');
    return { backup, reloaded: true };
  } catch (thrown) {
    const written = { ...file, bytes };
    if (file.bytes === undefined) removeSettingsFile(written);
    else replaceSettingsFile(written, file.bytes);
    if (!(thrown instanceof SvcError)) throw thrown;
    throw new SvcError(thrown.kind, `The running proxy refuses it: ${thrown.message}`, {
      cause: thrown,
      cure: 'The config file is as it was, and the proxy keeps its configuration.',
    });
  }
}
