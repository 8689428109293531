/** WebSockets served by svc: which upgrades are admitted, and how connections are closed. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { toSvcError } from '../../engine/index.ts';
import type { SvcError } from '../../engine/index.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import {
  malformedRequest,
  methodNotAllowed,
  notFound,
  rateLimited,
  shuttingDown,
  unknownWebSocketVersion,
} from '../../stages/model/errors.ts';
import { isKeyProtocol } from '../auth/keys-in-request.ts';
import { rawErrorResponse } from '../http/error-response.ts';
import { originForm, pathOf } from '../gate/target.ts';
import { hangUp } from '../http/hang-up.ts';
import { rateLimitHeaders } from '../http/limit.ts';
import type { RateDecision } from '../http/limit.ts';
import { serveConnection } from './connection.ts';
import type { SocketOptions } from './connection.ts';
import { OWN_PROTOCOL } from './own-protocol.ts';
import type { SocketProtocol } from './protocol.ts';
import { createInFlight } from '../http/in-flight.ts';
import { createResponsesProtocol } from './responses-protocol.ts';
import type { ServedRequest } from '../forward-proxy/intercepted-hosts.ts';

/** Versions of the protocol that the library speaks; a refusal names them (RFC 6455 §4.4). */
const VERSIONS: readonly string[] = ['13', '8'];

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;

interface Admitted {
  readonly firstBytes: Buffer;
  readonly served: ServedRequest | undefined;
  readonly decision: RateDecision | undefined;
}

/** Limit for the conversations of all sockets together; an agent's is about a megabyte. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

export type SocketHandler = ReturnType<typeof createSocketHandler>;

export function createSocketHandler(options: SocketOptions) {
  const { generations, services, newId } = options;
  /** Memory used by the kept conversations. */
  const kept = createInFlight(services.clock, MAX_KEPT_BYTES);
  let opening: Promise<WebSocketServer> | undefined;
  let server: WebSocketServer | undefined;

  /** The first upgrade loads the library: most proxies never see one. */
  async function openServer(): Promise<WebSocketServer> {
    const library = await import('ws');
    const opened = new library.WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      clientTracking: true,
      // Browsers can put a key nowhere else; the response must not repeat it.
      handleProtocols: (offered) => [...offered].find((name) => !isKeyProtocol(name)) ?? false,
    });
    opened.on('headers', (fields) => fields.push(`X-Request-ID: ${newId()}`));
    // The library's own refusals have neither an id nor a body that a client can read.
    opened.on('wsClientError', ({ message }, socket, request) => {
      const { method, headers } = request;
      if (method !== 'GET') return refuse(request, socket, methodNotAllowed(['GET']));
      if (VERSIONS.includes(headers['sec-websocket-version'] ?? ''))
        return refuse(request, socket, malformedRequest(message));
      const versions = ['Sec-WebSocket-Version', VERSIONS.join(', ')];
      return refuse(request, socket, unknownWebSocketVersion(), versions);
    });
    return (server = opened);
  }

  function refuse(request: IncomingMessage, socket: Duplex, error: SvcError, extra: string[] = []) {
    const readable = generations.current.cors.headers(request.headers.origin);
    hangUp(socket, rawErrorResponse(error, newId(), [...readable, ...extra]));
  }

  function admit(
    request: IncomingMessage,
    socket: Duplex,
    firstBytes: Buffer,
    served?: ServedRequest,
  ): void {
    const { gate } = generations.current;
    const admission = gate(request, 'upgrade');
    if (admission.verdict === 'refused') return refuse(request, socket, admission.error);
    const decision = services.limiter.takeTogether(request.socket.remoteAddress ?? '');
    const continueWith = (decided: RateDecision | undefined): void =>
      proceed(request, socket, { firstBytes, served, decision: decided });
    if (!(decision instanceof Promise)) return continueWith(decision);
    // The library has no listener yet, and a socket may fail at any moment.
    socket.on('error', () => undefined);
    decision
      .then((decided) => {
        if (!socket.destroyed) continueWith(decided);
      })
      .catch((thrown: unknown) => refuse(request, socket, toSvcError(thrown)));
  }

  function proceed(
    request: IncomingMessage,
    socket: Duplex,
    { firstBytes, served, decision }: Admitted,
  ): void {
    if (decision?.isAllowed === false) {
      const error = rateLimited(decision.retryAfterS);
      return refuse(request, socket, error, rateLimitHeaders(decision));
    }
    const protocol = protocolOf(request, served);
    if (options.draining()) throw shuttingDown();
    opening ??= openServer();
    opening.then(
      (opened) => {
        // A connection takes its limit from here when it opens; a reload may have changed it.
        opened.options.maxPayload = generations.current.config.limits.maxProxiedRequestBytes;
        opened.handleUpgrade(request, socket, firstBytes, (client) => {
          serveConnection(client, request, options, protocol);
        });
      },
      (thrown: unknown) => refuse(request, socket, toSvcError(thrown)),
    );
  }

  function protocolOf(request: IncomingMessage, served: ServedRequest | undefined): SocketProtocol {
    if (served !== undefined)
      return createResponsesProtocol({
        served,
        newId,
        wallMs: () => services.clock.wallMs(),
        claim: (bytes) => kept.claim(bytes),
      });
    const target = originForm(request.url ?? '/');
    if (pathOf(target) === '/ws') return OWN_PROTOCOL;
    resolveEndpoint(request.method ?? 'GET', target, request.rawHeaders);
    throw notFound('This path does not support WebSocket');
  }

  return {
    /**
     * Handles an upgrade request on either port, or for the conversation `served` in a connection
     * opened for its host.
     */
    upgrade(
      request: IncomingMessage,
      socket: Duplex,
      firstBytes: Buffer,
      served?: ServedRequest,
    ): void {
      try {
        admit(request, socket, firstBytes, served);
      } catch (thrown) {
        refuse(request, socket, toSvcError(thrown));
      }
    },
    /** Closes every connection that has no run. */
    close(): void {
      for (const client of server?.clients ?? [])
        client.close(GOING_AWAY, 'the proxy is shutting down');
    },
  };
}
