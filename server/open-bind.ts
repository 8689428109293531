/** A proxy that the network can reach asks for a key, or does not start. */
import { SvcError } from '../engine/index.ts';
import type { Config } from './config/config.ts';

/** Throws `config` where anyone on the network would be let in. */
export function refuseOpenBind(config: Config): void {
  const { host } = config.server;
  const isLoopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (isLoopback || config.security.apiKey !== null) return;
  throw new SvcError(
    'config',
    `Listening on ${host} would let anyone on the network in, and security.api_key is not set`,
    {
      code: 'CONFIG_002',
      cure: 'Make a key with `svc auth --generate` and set it as security.api_key, or listen on 127.0.0.1.',
    },
  );
}
