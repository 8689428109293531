/**
 * Connections through an outbound proxy: a `CONNECT` (RFC 9110 §9.3.6) on a connection to it,
 * followed by the provider's own protocol. Our HTTP library's own agent for this converts the
 * headers of every request to an object, which loses a repeated one, and opens its connections in
 * its own way.
 */
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { isIPv6 } from 'node:net';
import { providerUnreachable } from '../model/errors.ts';
import { reasonOf } from './failure-reason.ts';
import type { Connector } from './undici-upstream.ts';

/** As long as an operating system keeps trying to connect directly. */
const ANSWER_WITHIN_MS = 120_000;

/** The target of a tunnel. */
export interface TunnelEnd {
  readonly protocol: string;
  /** Without brackets. */
  readonly hostname: string;
  /** Empty for the protocol's default. */
  readonly port: string;
}

/** Returns the effective port. */
export function portOf({ protocol, port }: TunnelEnd): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/**
 * Connects through the proxy at the URL `proxy`, which may contain a user and a password; `open`
 * connects to it, as to a provider. A refusal by the proxy is `PROVIDER_003`.
 */
export function createTunnel(proxy: string, open: Connector): Connector {
  const url = new URL(proxy);
  const way = {
    protocol: url.protocol,
    hostname: withoutBrackets(url.hostname),
    host: url.host,
    port: url.port,
  };
  const fields = credentials(url);
  return (options, done) => {
    open(way, (...[error, socket]) => {
      if (error !== null) return done(tunnelError(error), null);
      requestTunnel(socket, authorityOf(options), fields, (tunnel) => {
        if (tunnel instanceof Error) return done(tunnel, null);
        if (options.protocol !== 'https:') return done(null, tunnel);
        open({ ...options, httpSocket: tunnel }, done);
      });
    });
  };
}

function requestTunnel(
  socket: Socket,
  authority: string,
  fields: Readonly<Record<string, string>>,
  done: (tunnel: Socket | Error) => void,
): void {
  const asking = request({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, connection: 'keep-alive', ...fields },
    createConnection: () => socket,
  });
  const timer = setTimeout(
    () => asking.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
    ANSWER_WITHIN_MS,
  );
  asking.on('error', (error) => {
    clearTimeout(timer);
    done(tunnelError(error));
  });
  asking.on('connect', ({ statusCode = 0 }, tunnel: Socket, more: Buffer) => {
    clearTimeout(timer);
    if (statusCode < 200 || statusCode > 299) {
      tunnel.destroy();
      return done(providerUnreachable(`outbound proxy answered ${statusCode}`));
    }
    if (more.length > 0) tunnel.unshift(more);
    done(tunnel);
  });
  asking.end();
}

function tunnelError(error: Error): Error {
  return providerUnreachable(`outbound proxy: ${reasonOf(error)}`, error);
}

function authorityOf(end: TunnelEnd): string {
  const { hostname } = end;
  return `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${portOf(end)}`;
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function credentials({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
