/** What `svc setup` finds on the machine before it asks anything. Read-only. */
import { join } from 'node:path';
import { toReachableUrl } from '../address.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import { keyOrigins } from '../process/facts.ts';
import { listenError } from '../process/port-owner.ts';
import { configOf } from '../parse/flags.ts';
import { urlOf } from '../integrate/proxy-address.ts';
import { readSettingsFile } from '../integrate/settings-file.ts';
import { readWiring } from '../integrate/wiring.ts';
import { findSubscription } from './subscription.ts';

/** Number of ports after the configured one that are tried. */
const PORTS_TRIED = 50;

export type DetectedSetup = Awaited<ReturnType<typeof detectSetup>>;

/**
 * Examines the machine.
 *
 * @throws SvcError `config` if the existing configuration has faults.
 */
export async function detectSetup(context: CliContext) {
  const home = homeOf(context);
  const loaded = await configOf(undefined, context);
  const running = runningInstance(home);
  const { host, port: configured } = loaded.config.server;
  const isMovable = ['default', 'file'].includes(
    loaded.provenance.get('server.port')?.source ?? 'default',
  );
  const free =
    running?.port ??
    (isMovable ? await freePort(host, configured, loaded.config.server.wsPort) : configured);
  const port = free ?? configured;
  const url = running?.url === undefined ? urlOf(host, port) : toReachableUrl(running.url);
  // Installed clients.
  const clients = readWiring(home, context, url).filter(({ isInstalled }) => isInstalled);
  return {
    home,
    loaded,
    /** The user's own config file, whether or not it exists. */
    file: readSettingsFile(join(home, 'config.yaml')),
    keys: keyOrigins(loaded),
    /** Address at which clients on this machine reach the proxy, or would. */
    url,
    clients,
    subscription: findSubscription(loaded, clients, context),
    running,
    /** Port at which a proxy listens, or would. */
    port,
    /** The configured port if another program uses it; `port` is then a free one. */
    takenPort: running === undefined && port !== configured ? configured : undefined,
  };
}

/**
 * Returns the first port from `wanted` on that is free together with its WebSocket port; undefined
 * if there is none.
 */
async function freePort(
  host: string,
  wanted: number,
  wsPort: number | null,
): Promise<number | undefined> {
  if (wanted === 0) return 0;
  for (let port = wanted; port <= Math.min(wanted + PORTS_TRIED, 65_534); port += 1) {
    if ((await isFree(host, port)) && (wsPort !== null || (await isFree(host, port + 1))))
      return port;
  }
  return undefined;
}

async function isFree(host: string, port: number): Promise<boolean> {
  return (await listenError(host, port))?.code !== 'EADDRINUSE';
}
