/**
 * How connections leave this machine: directly, or through the proxy named by `HTTPS_PROXY`,
 * `HTTP_PROXY` and `NO_PROXY`. Decided once per connection.
 */
import type { Dispatcher } from 'undici';
import { createTunnel } from '../../stages/providers/tunnel.ts';
import type { TunnelEnd } from '../../stages/providers/tunnel.ts';
import { createAgent, createConnector } from '../../stages/providers/undici-upstream.ts';
import type { Connector } from '../../stages/providers/undici-upstream.ts';
import { isLoopbackHost } from '../config/address.ts';
import type { Config } from '../config/config.ts';
import { exemptions } from './no-proxy.ts';

/** Ways to open outgoing connections. */
export interface Outbound {
  /** Opens a connection to a provider, with TLS if its URL requires it. */
  readonly open: Connector;
  /**
   * Returns a connector through the network's proxy to a tunnelled host; undefined if the host is
   * reached directly.
   */
  through(end: TunnelEnd): Connector | undefined;
}

/** Creates the dispatcher for requests, which uses the configured connectors. */
export function createOutbound(outbound: Config['outbound']): Dispatcher {
  return createAgent(outboundWays(outbound).open);
}

/** Returns how the configuration lets connections leave. Loopback is always reached directly. */
export function outboundWays(outbound: Config['outbound']): Outbound {
  const { httpsProxy, httpProxy, noProxy } = outbound;
  const direct = createConnector();
  if (httpsProxy === null && httpProxy === null) return { open: direct, through: () => undefined };
  const isExempt = exemptions(noProxy ?? '');
  const toHttps = httpsProxy === null ? undefined : createTunnel(httpsProxy, direct);
  const toHttp = httpProxy === null ? undefined : createTunnel(httpProxy, direct);
  const through = (end: TunnelEnd): Connector | undefined => {
    if (isLoopbackHost(end.hostname) || isExempt(end)) return undefined;
    return end.protocol === 'https:' ? toHttps : toHttp;
  };
  return { open: (options, done) => (through(options) ?? direct)(options, done), through };
}
