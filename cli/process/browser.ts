/** Opens an address in the user's browser. */
import { spawn } from 'node:child_process';
import type { CliContext } from '../context.ts';

/**
 * Opens `url` with the first program that `BROWSER` names, else with the system's. Resolves with
 * false where that program cannot be started; what it then does is not waited for.
 */
export function openInBrowser(url: string, { env }: Pick<CliContext, 'env'>): Promise<boolean> {
  const [program = ''] = (env['BROWSER'] ?? '').split(':');
  const command = program !== '' ? program : process.platform === 'darwin' ? 'open' : 'xdg-open';
  return new Promise((resolve) => {
    const child = spawn(command, [url], { env, detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
