/** What `svc setup` finds on the machine before it asks anything. Reads only. */
import { join } from 'node:path';
import { reachable } from '../address.ts';
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

/** How many ports behind the configured one are looked at. */
const PORTS_TRIED = 50;

export type Found = Awaited<ReturnType<typeof lookAround>>;

/** Looks around. @throws SvcError `config` where the configuration that is there has faults. */
export async function lookAround(context: CliContext) {
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
  const url = running?.url === undefined ? urlOf(host, port) : reachable(running.url);
  // Clients that are installed.
  const clients = readWiring(home, context, url).filter(({ isInstalled }) => isInstalled);
  return {
    home,
    loaded,
    /** The user's own config file, whether or not there is one. */
    file: readSettingsFile(join(home, 'config.yaml')),
    keys: keyOrigins(loaded),
    /** Where clients on this machine reach the proxy, or would. */
    url,
    clients,
    subscription: findSubscription(loaded, clients, context),
    running,
    /** Where a proxy would listen, or does. */
    port,
    /** The configured port where another program has it; then `port` is a free one. */
    takenPort: running === undefined && port !== configured ? configured : undefined,
  };
}

/** The first port from `wanted` on that is free, with the one of its WebSocket; undefined without one. */
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
