/**
 * How connections leave this machine: directly, or through the proxy that
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name.
 */
import { EnvHttpProxyAgent } from '../stages/providers/undici.ts';
import type { Dispatcher } from '../stages/providers/undici.ts';
import {
  createAgent,
  createConnector,
  outboundLimits,
} from '../stages/providers/undici-upstream.ts';
import type { Config } from './config/config.ts';

/** The dispatcher for all upstream requests. Loopback is always reached directly. */
export function createOutbound(outbound: Config['outbound']): Dispatcher {
  const { httpsProxy, httpProxy, noProxy } = outbound;
  if (httpsProxy === null && httpProxy === null) return createAgent();
  return new EnvHttpProxyAgent({
    ...outboundLimits,
    connect: createConnector(),
    ...(httpProxy === null ? {} : { httpProxy }),
    ...(httpsProxy === null ? {} : { httpsProxy }),
    noProxy: [noProxy, 'localhost', '127.0.0.1', '[::1]'].filter(Boolean).join(','),
  });
}
