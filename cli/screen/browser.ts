/** Shows an address in the person's browser, where there is one to show it. */
import { spawn } from 'node:child_process';
import type { CliContext } from '../context.ts';
import { isTerminal } from './output.ts';

/** The program that opens an address: what `BROWSER` names, else the system's, or undefined where no screen can show one. */
function openerOf({ env, stdout }: CliContext, platform: NodeJS.Platform): string | undefined {
  const [own = ''] = (env['BROWSER'] ?? '').split(':');
  if (own !== '') return own;
  if (!isTerminal(stdout) || env['SSH_CONNECTION'] !== undefined) return undefined;
  if (platform === 'darwin') return 'open';
  const hasScreen = env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined;
  return hasScreen ? 'xdg-open' : undefined;
}

/** Opens `url` if a person sits at this machine's screen; its address is printed in any case. */
export function openBrowser(context: CliContext, url: string): void {
  const opener = openerOf(context, process.platform);
  if (opener === undefined) return;
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore', env: context.env });
  // The address was printed, so a machine without the program loses nothing.
  child.on('error', () => undefined);
  child.unref();
}
