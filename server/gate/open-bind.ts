/** A proxy reachable from the network requires a key, or does not start. */
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import { mergeKeys } from '../auth/key-changes.ts';
import { readKeys } from '../auth/store.ts';
import type { StoredKey } from '../auth/store.ts';
import { isLoopbackHost } from '../config/address.ts';
import type { Config } from '../config/config.ts';
import { fault, type Fault } from '../config/fault.ts';
import type { LoadedConfig } from '../config/load.ts';

const CURE =
  'Make a key with `svc auth --generate`, or set security.api_key, or listen on 127.0.0.1.';

/** Returns the path of the key file that `svc auth` writes. */
export function keysFile(home: string): string {
  return join(home, 'keys.json');
}

/**
 * Throws `config` if anyone on the network would be admitted, or if the keys cannot be read;
 * `shared` are the keys of a shared ledger, once its database has returned them.
 */
export function refuseOpenBind(config: Config, nowMs: number, shared?: readonly StoredKey[]): void {
  const reason = openBind(config, nowMs, shared);
  if (reason !== undefined)
    throw new SvcError('config', reason, { code: 'CONFIG_002', cure: CURE });
}

/**
 * Returns the same error as a fault, for configuration checks. It does not invalidate the
 * configuration: every other command runs with it, including the one that creates the key.
 */
export function openBindFaults(
  { config, provenance }: LoadedConfig,
  nowMs: number,
): readonly Fault[] {
  const reason = openBind(config, nowMs);
  const origin = provenance.get('server.host');
  if (reason === undefined || origin === undefined) return [];
  return [fault(origin, 'server.host', `server.host: ${reason}. ${CURE}`)];
}

function openBind(
  config: Config,
  nowMs: number,
  shared?: readonly StoredKey[],
): string | undefined {
  const { home, ledger, server, security } = config;
  const { host } = server;
  if (isLoopbackHost(host) || security.apiKey !== null) return undefined;
  // The keys of a shared ledger are unknown until it is queried; while its database is unreachable
  // every request from elsewhere is answered with 401.
  if (isPostgresUrl(ledger.db) && shared === undefined) return undefined;
  const isLive = ({ revoked, expires }: StoredKey): boolean =>
    revoked === undefined && (expires === undefined || Date.parse(expires) > nowMs);
  if (mergeKeys(readKeys(keysFile(home)), shared ?? []).some(isLive)) return undefined;
  return `Listening on ${host} would let anyone on the network in: there is no proxy key`;
}
