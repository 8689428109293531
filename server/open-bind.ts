/** A proxy that the network can reach asks for a key, or does not start. */
import { SvcError } from '../engine/index.ts';
import { isLoopbackHost } from './config/checks.ts';
import type { Config } from './config/config.ts';
import { fault, type Fault } from './config/fault.ts';
import type { LoadedConfig } from './config/load.ts';

const CURE =
  'Make a key with `svc auth --generate` and set it as security.api_key, or listen on 127.0.0.1.';

/** Throws `config` where anyone on the network would be let in. */
export function refuseOpenBind(config: Config): void {
  const reason = openBind(config);
  if (reason !== undefined)
    throw new SvcError('config', reason, { code: 'CONFIG_002', cure: CURE });
}

/**
 * The same for whoever checks a configuration. It is no fault of the configuration itself: every
 * other command runs with it, and the one that makes the key has to.
 */
export function openBindFaults({ config, provenance }: LoadedConfig): readonly Fault[] {
  const reason = openBind(config);
  const place = provenance.get('server.host');
  if (reason === undefined || place === undefined) return [];
  return [fault(place, 'server.host', `server.host: ${reason}. ${CURE}`)];
}

function openBind({ server: { host }, security }: Config): string | undefined {
  if (isLoopbackHost(host) || security.apiKey !== null) return undefined;
  return `Listening on ${host} would let anyone on the network in, and security.api_key is not set`;
}
