/** The proxy address for clients: that of the running proxy, else the configured one. */
import { toReachableUrl } from '../address.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { configOf } from '../parse/flags.ts';

/**
 * Returns the address at which clients on this machine reach svc, without a trailing slash.
 *
 * @throws SvcError `config` if no proxy runs and the configuration is invalid.
 */
export async function proxyAddress(context: CliContext) {
  const url = runningInstance(homeOf(context))?.url;
  if (url !== undefined) return { url: toReachableUrl(url), isRunning: true };
  const { config } = await configOf(undefined, context);
  const { host, port } = config.server;
  return { url: urlOf(host, port), isRunning: false };
}

/** Returns the address at which clients on this machine reach a listener at `host` and `port`. */
export function urlOf(host: string, port: number): string {
  return toReachableUrl(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}
