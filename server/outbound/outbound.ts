/**
 * How connections leave this machine: directly, or through the proxy that
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. The way is chosen once a connection.
 */
import type { Dispatcher } from 'undici';
import { createTunnel } from '../../stages/providers/tunnel.ts';
import type { TunnelEnd } from '../../stages/providers/tunnel.ts';
import { createAgent, createConnector } from '../../stages/providers/undici-upstream.ts';
import type { Connector } from '../../stages/providers/undici-upstream.ts';
import { isLoopbackHost } from '../config/address.ts';
import type { Config } from '../config/config.ts';
import { exemptions } from './no-proxy.ts';

/** How connections leave. */
export interface Outbound {
  /** Opens a connection to a provider, with TLS where its URL has it. */
  readonly open: Connector;
  /** The way through the proxy of the network, to a host whose bytes are not ours; undefined where it is reached directly. */
  through(end: TunnelEnd): Connector | undefined;
}

/** The dispatcher for requests that leave by the configured ways. */
export function createOutbound(outbound: Config['outbound']): Dispatcher {
  return createAgent(outboundWays(outbound).open);
}

/** The ways out by the configuration. Loopback is always reached directly. */
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
