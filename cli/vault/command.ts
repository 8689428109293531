/** Shared parts of the vault's commands: settings, opening the vault, and interruption. */
import { Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import { openVault } from '../../stages/vault/vault.ts';
import type { OpenedVault } from '../../stages/vault/contract.ts';
import { shortPath } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { onEnd } from '../process/signals.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { readOwn } from '../remote.ts';

export abstract class VaultCommand extends SvcCommand {
  config = Option.String('--config', {
    description: 'Config file, in place of ./proxy.yaml and ~/.svc/config.yaml',
  });
  envFile = Option.String('--env-file', { description: 'File of NAME=value lines to read' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  /** Returns the settings of the running proxy, else those of a start. */
  async settings(): Promise<Config> {
    return (await configInUse(this.config, this.context, this.envFile)).config;
  }

  /** Returns the arguments for every call into the vault. */
  basics({ vault }: Config) {
    const { clock, random } = this.context;
    return { indexDir: vault.indexPath, clock, newId: () => random(9).toString('base64url') };
  }

  /**
   * Opens the vault, passes it to `use` and closes it. Damaged parts are read again first, since
   * closing would stop that. Throws `cancelled` if interrupted.
   */
  async withVault<T>(
    config: Config,
    use: (vault: OpenedVault) => Promise<T>,
    backend = config.vault.backend,
  ): Promise<T> {
    const vault = openVault({
      ...this.basics(config),
      backend,
      onProblem: ({ what, movedTo }) =>
        this.note(`! ${what}${movedTo === '' ? '' : `; the old one is ${movedTo}`}`),
    });
    try {
      await this.repaired(vault);
      const result = await use(vault);
      // Some damage is only detected by reading.
      await this.repaired(vault);
      return result;
    } finally {
      await vault.close();
    }
  }

  private async repaired(vault: OpenedVault): Promise<void> {
    const { rebuilding } = await vault.status();
    if (!rebuilding) return;
    await this.interruptible(async (signal) => {
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      this.note('Files that the index has lost are read again…');
      await Promise.race([vault.settled(), stopped]);
      if (!signal.aborted) return;
      throw new SvcError('cancelled', 'Stopped before the index was complete again', {
        cure: 'The next command that opens the index continues, or `svc vault-health repair`.',
      });
    });
  }

  /** Runs `work` with a signal that Ctrl-C and the end of a session abort. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const stopListening = onEnd(this.context, () => controller.abort());
    try {
      return await work(controller.signal);
    } finally {
      stopListening();
    }
  }

  /** Tells the user if the running proxy uses another index than this command. */
  async compareWithProxy(config: Config): Promise<void> {
    if (runningInstance(config.home) === undefined) return;
    const health = await readOwn(config.home, '/health').catch(() => undefined);
    const index = health?.['vault_index'];
    if (typeof index !== 'object' || index === null || !('path' in index)) return;
    const { path } = index;
    if (typeof path !== 'string' || path === config.vault.indexPath) return;
    const short = shortPath(path, this.context);
    this.note(`! The running proxy uses another index, ${short}`);
  }

  /** Returns the error for an index that does not exist yet. */
  noIndex({ vault }: Config): SvcError {
    const where = shortPath(vault.indexPath, this.context);
    return new SvcError('not_found', `There is no index yet (${where})`, {
      cure: '`svc index <folder>` makes one.',
    });
  }
}
