/**
 * Forward mode: the proxy as clients' `HTTPS_PROXY`. A `CONNECT` to a provider's host is
 * intercepted with a certificate of the local authority, and the decrypted connection goes to the
 * HTTP server like any other; a `CONNECT` to any other host becomes a tunnel whose bytes are not
 * read.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { isSvcError, toSvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import {
  malformedRequest,
  noTunnel,
  overloaded,
  shuttingDown,
  upgradeOverHttp,
} from '../../stages/model/errors.ts';
import type { Generations } from '../generation/generation.ts';
import { isSubscription } from '../generation/verbatim-requests.ts';
import { rawErrorResponse } from '../http/error-response.ts';
import { hangUp } from '../http/hang-up.ts';
import type { Log } from '../log/log.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { admitTunnel } from './admission.ts';
import type { TunnelTarget } from './admission.ts';
import { hasAuthority } from './ca/files.ts';
import { createLeaves } from './ca/leaves.ts';
import { openTunnel, systemResolve } from './destinations.ts';
import type { Resolve } from './destinations.ts';
import { INTERCEPTED_PORT, servedSocket } from './intercepted-hosts.ts';
import type { InterceptedConnections, ServedRequest } from './intercepted-hosts.ts';
import { createPass } from './pass.ts';
import { splice } from './splice.ts';
import { createTokenCheck } from './tokens.ts';

/** Time limit for connecting a tunnel's other end, and for the TLS handshake with the client. */
const SET_UP_MS = 30_000;
/** Longest time that open connections outlive their token, or the authority. */
const RECHECK_MS = 500;
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';
const CHALLENGE = ['Proxy-Authenticate', 'Basic realm="svc"'];

export interface ForwardProxyOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly generations: Generations;
  readonly outbound: Outbound;
  readonly intercepted: InterceptedConnections;
  readonly newId: () => string;
  readonly draining: () => boolean;
  /** Handles an upgrade for a conversation. */
  readonly converse: (
    request: IncomingMessage,
    socket: Duplex,
    firstBytes: Buffer,
    served: ServedRequest,
  ) => void;
  /** Default: the machine's resolver. */
  readonly resolve?: Resolve | undefined;
}

export type ForwardProxy = ReturnType<typeof createForwardProxy>;

export function createForwardProxy(options: ForwardProxyOptions) {
  const { home, clock, log, generations, outbound, intercepted, newId } = options;
  const { resolve = systemResolve } = options;
  const leaves = createLeaves({ home, clock });
  const tokens = createTokenCheck(home, clock, (fault) => log.error(fault.message));
  const pass = createPass(outbound.open, clock);
  /** Client connections that have left HTTP by a `CONNECT`, each with its token. */
  const tunnels = new Map<Socket, string>();
  let stopTimer: (() => void) | undefined;
  /** The outgoing connections, and the decrypted streams inside intercepted ones. */
  const ends = new Set<Duplex>();

  function keep<T extends Duplex>(end: T): T {
    ends.add(end);
    end.once('close', () => ends.delete(end));
    return end;
  }

  /** Closes connections whose token is no longer valid: the client has lost its permission. */
  function recheck(): void {
    stopTimer = undefined;
    const isRemoved = !hasAuthority(home);
    const lost = new Set(
      [...new Set(tunnels.values())].filter(
        (token) => isRemoved || typeof tokens.check(token) === 'string',
      ),
    );
    for (const [socket, token] of tunnels) if (lost.has(token)) socket.destroy();
    recheckLater();
  }

  function recheckLater(): void {
    if (tunnels.size > 0) stopTimer ??= clock.after(RECHECK_MS, recheck);
  }

  function refuse(socket: Duplex, thrown: unknown): void {
    const error = toSvcError(thrown);
    if (error.kind === 'internal') log.error(error.message, { cause: error.cause });
    const extra = error.kind === 'proxy_unauthorized' ? CHALLENGE : [];
    hangUp(socket, rawErrorResponse(error, newId(), extra));
  }

  async function open(socket: Socket, target: TunnelTarget, server: Server): Promise<void> {
    const { host, port } = target;
    const isOurs = port === INTERCEPTED_PORT && generations.current.intercepted.has(host);
    const context = isOurs ? await leaves.contextFor(host) : undefined;
    if (context !== undefined) {
      if (!socket.destroyed) unwrap(socket, host, context, server);
      return;
    }
    const { privateHosts } = generations.current.config.forwardProxy;
    const signal = AbortSignal.timeout(SET_UP_MS);
    const far = await openTunnel(target, { privateHosts, outbound, resolve, signal });
    if (socket.destroyed) {
      far.destroy();
      return;
    }
    keep(far);
    socket.write(ESTABLISHED);
    await splice(socket, far, clock);
  }

  /**
   * Terminates TLS for `host` on the client's connection, and hands the decrypted stream to the
   * HTTP server.
   */
  function unwrap(socket: Socket, host: string, context: SecureContext, server: Server): void {
    socket.write(ESTABLISHED);
    const inner = keep(
      new TLSSocket(socket, {
        isServer: true,
        secureContext: context,
        ALPNProtocols: ['http/1.1'],
      }),
    );
    const timer = setTimeout(() => inner.destroy(), SET_UP_MS);
    const failed = (): void => void inner.destroy();
    inner.once('error', failed);
    inner.once('close', () => {
      clearTimeout(timer);
      socket.destroy();
    });
    inner.once('secure', () => {
      clearTimeout(timer);
      const serverName: unknown = 'servername' in inner ? inner.servername : undefined;
      // A client that names another host inside wants another server.
      if (typeof serverName === 'string' && serverName.toLowerCase() !== host) {
        inner.destroy();
        return;
      }
      intercepted.mark(inner, host);
      server.emit('connection', inner);
      inner.off('error', failed);
    });
  }

  return {
    /** Handles a `CONNECT`. Never throws. */
    connect(request: IncomingMessage, socket: Socket, firstBytes: Buffer, server: Server): void {
      // No other listener remains, and a socket may fail at any moment.
      socket.on('error', () => socket.destroy());
      try {
        if (!hasAuthority(home)) throw noTunnel();
        if (intercepted.hostOf(socket) !== undefined)
          throw malformedRequest('A tunnel inside a tunnel');
        const { ports, maxTunnels } = generations.current.config.forwardProxy;
        const target = admitTunnel(request, { tokens, ports });
        if (isSvcError(target)) throw target;
        if (options.draining()) throw shuttingDown();
        if (tunnels.size >= maxTunnels) throw overloaded('As many tunnels are open as may be');
        if (firstBytes.length > 0) socket.unshift(firstBytes);
        tunnels.set(socket, target.token);
        recheckLater();
        socket.once('close', () => tunnels.delete(socket));
        open(socket, target, server).catch((thrown: unknown) => refuse(socket, thrown));
      } catch (thrown) {
        refuse(socket, thrown);
      }
    },

    /** Passes a request of an intercepted connection through to its host, unchanged. */
    pass: (
      request: IncomingMessage,
      response: ServerResponse,
      host: string,
      failed: (error: Error) => void,
    ) => {
      pass.request(request, response, host, { failed });
    },

    /**
     * Handles an upgrade inside an intercepted connection: it goes to the host, unless it is for a
     * conversation.
     */
    upgrade(request: IncomingMessage, socket: Duplex, firstBytes: Buffer, host: string): void {
      try {
        const { gate, intercepted: hosts } = generations.current;
        const admission = gate(request, 'pass');
        if (admission.verdict === 'refused') throw admission.error;
        const kinds = hosts.get(host);
        const served = kinds && servedSocket(kinds, request.url ?? '');
        if (served !== undefined) {
          // For other endpoints no WebSocket protocol is known: their clients fall back to HTTP.
          const { dialect, operation } = served.endpoint;
          if (dialect !== 'responses' || operation !== 'generate') throw upgradeOverHttp();
          // A plan's traffic must arrive byte for byte, which HTTP allows and WebSocket messages do
          // not.
          if (isSubscription(request.rawHeaders)) throw upgradeOverHttp();
          options.converse(request, socket, firstBytes, served);
          return;
        }
        const failed = (error: Error): void => refuse(socket, error);
        pass.upgrade(request, socket, firstBytes, host, { failed, joined: keep });
      } catch (thrown) {
        refuse(socket, thrown);
      }
    },

    /** Closes every tunnel and every intercepted connection. */
    close(): void {
      stopTimer?.();
      for (const end of [...tunnels.keys(), ...ends]) end.destroy();
    },
  };
}
