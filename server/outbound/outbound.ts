/**
 * How connections leave this machine: directly, or through the proxy that
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. The way is chosen once a connection.
 */
import { createTunnel } from '../../stages/providers/tunnel.ts';
import type { Dispatcher } from 'undici';
import { createAgent, createConnector } from '../../stages/providers/undici-upstream.ts';
import { isLoopbackHost } from '../config/address.ts';
import type { Config } from '../config/config.ts';
import { exemptions } from './no-proxy.ts';

/** The dispatcher for all upstream requests. Loopback is always reached directly. */
export function createOutbound(outbound: Config['outbound']): Dispatcher {
  const { httpsProxy, httpProxy, noProxy } = outbound;
  if (httpsProxy === null && httpProxy === null) return createAgent();
  const direct = createConnector();
  const isExempt = exemptions(noProxy ?? '');
  const toHttps = httpsProxy === null ? direct : createTunnel(httpsProxy, direct);
  const toHttp = httpProxy === null ? direct : createTunnel(httpProxy, direct);
  return createAgent((options, done) => {
    const proxied = options.protocol === 'https:' ? toHttps : toHttp;
    const open = isLoopbackHost(options.hostname) || isExempt(options) ? direct : proxied;
    open(options, done);
  });
}
