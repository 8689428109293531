/** The way to `/ws`: which upgrades are admitted on either port, and the goodbye at the end. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { toSvcError } from '../../engine/index.ts';
import type { SvcError } from '../../engine/index.ts';
import { resolveEndpoint } from '../../stages/dialect/endpoints.ts';
import { notFound, rateLimited, shuttingDown } from '../../stages/model/errors.ts';
import { isKeyProtocol } from '../auth/presented.ts';
import { rawErrorResponse } from '../http/error-response.ts';
import { originForm, pathOf } from '../gate/target.ts';
import { hangUp } from '../http/hang-up.ts';
import { rateLimitHeaders } from '../http/limit.ts';
import type { RateDecision } from '../http/limit.ts';
import { serveConnection } from './connection.ts';
import type { SocketOptions } from './connection.ts';

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;

export function createSocketDoor(options: SocketOptions) {
  const { generations, services, newId } = options;
  let opening: Promise<WebSocketServer> | undefined;
  let server: WebSocketServer | undefined;

  /** The library is loaded by the first upgrade: most proxies never see one. */
  async function openServer(): Promise<WebSocketServer> {
    const library = await import('ws');
    const opened = new library.WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      clientTracking: true,
      // Browsers can put a key nowhere else; the answer must not repeat it.
      handleProtocols: (offered) => [...offered].find((name) => !isKeyProtocol(name)) ?? false,
    });
    opened.on('headers', (fields) => fields.push(`X-Request-ID: ${newId()}`));
    return (server = opened);
  }

  function refuse(request: IncomingMessage, socket: Duplex, error: SvcError, extra: string[] = []) {
    const readable = generations.current.cors.headers(request.headers.origin);
    hangUp(socket, rawErrorResponse(error, newId(), [...readable, ...extra]));
  }

  function admit(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): void {
    const { gate } = generations.current;
    const admission = gate(request, 'upgrade');
    if (admission.verdict === 'refused') return refuse(request, socket, admission.error);
    const decision = services.limiter.takeTogether(request.socket.remoteAddress ?? '');
    if (!(decision instanceof Promise)) return proceed(request, socket, firstBytes, decision);
    // Nobody else listens until the library does, and a socket may fail at any moment.
    socket.on('error', () => undefined);
    decision
      .then((decided) => {
        if (!socket.destroyed) proceed(request, socket, firstBytes, decided);
      })
      .catch((thrown: unknown) => refuse(request, socket, toSvcError(thrown)));
  }

  function proceed(
    request: IncomingMessage,
    socket: Duplex,
    firstBytes: Buffer,
    decision: RateDecision | undefined,
  ): void {
    if (decision?.isAllowed === false) {
      const error = rateLimited(decision.retryAfterS);
      return refuse(request, socket, error, rateLimitHeaders(decision));
    }
    const target = originForm(request.url ?? '/');
    if (pathOf(target) !== '/ws') {
      resolveEndpoint(request.method ?? 'GET', target, request.rawHeaders);
      throw notFound('This path does not support WebSocket');
    }
    if (options.draining()) throw shuttingDown();
    opening ??= openServer();
    opening.then(
      (opened) => {
        // A connection takes its limit from here when it opens; a reload may have changed it.
        opened.options.maxPayload = generations.current.config.limits.maxProxiedRequestBytes;
        opened.handleUpgrade(request, socket, firstBytes, (client) => {
          serveConnection(client, request, options);
        });
      },
      (thrown: unknown) => refuse(request, socket, toSvcError(thrown)),
    );
  }

  return {
    /** Answers an upgrade request on either port. */
    upgrade(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): void {
      try {
        admit(request, socket, firstBytes);
      } catch (thrown) {
        refuse(request, socket, toSvcError(thrown));
      }
    },
    /** Says goodbye on every connection that has no run. */
    close(): void {
      for (const client of server?.clients ?? [])
        client.close(GOING_AWAY, 'the proxy is shutting down');
    },
  };
}
