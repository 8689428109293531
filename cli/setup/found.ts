/** What `svc setup` finds on the machine before it asks anything. Reads only. */
import { join } from 'node:path';
import type { LoadedConfig } from '../../server/config/load.ts';
import { reachable } from '../address.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runningInstance } from '../process/daemon.ts';
import type { Instance } from '../process/daemon.ts';
import { keyOrigins } from '../process/facts.ts';
import type { ServeFacts } from '../process/facts.ts';
import { listenError } from '../process/port-owner.ts';
import { configOf } from '../parse/flags.ts';
import { urlOf } from '../integrate/proxy-address.ts';
import { readSettingsFile } from '../integrate/settings-file.ts';
import type { SettingsFile } from '../integrate/settings-file.ts';
import { readWiring } from '../integrate/wiring.ts';
import type { Wiring } from '../integrate/wiring.ts';

/** How many ports behind the configured one are looked at. */
const PORTS_TRIED = 50;

export interface Found {
  readonly home: string;
  readonly loaded: LoadedConfig;
  /** The user's own config file, whether or not there is one. */
  readonly file: SettingsFile;
  readonly keys: ServeFacts['keys'];
  /** Where clients on this machine reach the proxy, or would. */
  readonly url: string;
  /** Clients that are installed. */
  readonly clients: readonly Wiring[];
  readonly running: Instance | undefined;
  /** Where a proxy would listen, or does. */
  readonly port: number;
  /** The configured port where another program has it; then `port` is a free one. */
  readonly takenPort: number | undefined;
}

/** Looks around. @throws SvcError `config` where the configuration that is there has faults. */
export async function lookAround(context: CliContext): Promise<Found> {
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
  return {
    home,
    loaded,
    file: readSettingsFile(join(home, 'config.yaml')),
    keys: keyOrigins(loaded),
    url,
    clients: readWiring(home, context, url).filter(({ isInstalled }) => isInstalled),
    running,
    port,
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
