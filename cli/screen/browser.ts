/** Opens an address in the user's browser, if there is a screen. */
import { spawn } from 'node:child_process';
import type { CliContext } from '../context.ts';
import { isTerminal } from './output.ts';

/**
 * Returns the program that opens addresses: the one in `BROWSER`, else the system's; undefined
 * without a screen.
 */
function openerOf({ env, stdout }: CliContext, platform: NodeJS.Platform): string | undefined {
  const [own = ''] = (env['BROWSER'] ?? '').split(':');
  if (own !== '') return own;
  if (!isTerminal(stdout) || env['SSH_CONNECTION'] !== undefined) return undefined;
  if (platform === 'darwin') return 'open';
  const hasScreen = env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined;
  return hasScreen ? 'xdg-open' : undefined;
}

/** Opens `url` if the user sits at this machine's screen; the address is printed in any case. */
export function openBrowser(context: CliContext, url: string): void {
  const opener = openerOf(context, process.platform);
  if (opener === undefined) return;
  // The address was printed, so a program that cannot be started is not a problem. Some reasons are
  // thrown, others are events.
  try {
    const child = spawn(opener, [url], { detached: true, stdio: 'ignore', env: context.env });
    child.on('error', () => undefined);
    child.unref();
  } catch {
    return;
  }
}
