/**
 * The two listeners: HTTP, and WebSocket on a port of its own. Time and size
 * limits of connections are set here; who is let in is the gate's to say.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SvcError } from '../engine/index.ts';
import { headersTooLarge, malformedRequest } from '../stages/model/errors.ts';
import { rawErrorResponse } from './error-response.ts';

/** Size of a request head above which the answer is 431. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Time for a request head, from its first byte. */
const HEAD_TIMEOUT_MS = 10_000;
/** An idle connection is kept this long. */
const KEEP_ALIVE_MS = 75_000;
/** How often slow connections are looked for. */
const CHECK_INTERVAL_MS = 1000;

export interface ListenerHandlers {
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  newId(): string;
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Takes no new connection, closes idle ones, and resolves when the last one has ended. */
  close(): Promise<void>;
  /** Ends every connection at once. */
  destroy(): void;
}

function onClientError(newId: () => string) {
  return (error: Error & { code?: string }, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const failure =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? headersTooLarge(`The request head is over ${MAX_HEAD_BYTES} bytes`)
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? malformedRequest('The request did not arrive in time')
          : malformedRequest('The request is not valid HTTP/1.1');
    socket.end(rawErrorResponse(failure, newId()));
  };
}

function createListener(handlers: ListenerHandlers): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
    headersTimeout: HEAD_TIMEOUT_MS,
    // A large body over a slow line may take its time; the gap between reads is bounded by the socket.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
  });
  // node hides fields past its limit without a word, so we count them ourselves.
  server.maxHeadersCount = 0;
  server.on('request', handlers.handle);
  // Not answered by node itself: whoever reads the body says `100 Continue`, behind the gate.
  server.on('checkContinue', handlers.handle);
  server.on('upgrade', handlers.upgrade);
  server.on('clientError', onClientError(handlers.newId));
  return server;
}

/** Listens on `host:port` (0 picks a free port). Throws `config` where that is not possible. */
export function listen(host: string, port: number, handlers: ListenerHandlers): Promise<Listener> {
  const server = createListener(handlers);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) =>
      reject(toListenError(error, host, port)),
    );
    server.listen({ host, port, exclusive: true }, () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
      const address = server.address() as AddressInfo;
      resolve({
        host,
        port: address.port,
        close: () => new Promise((closed) => server.close(() => closed())),
        destroy() {
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

function toListenError(error: Error & { code?: string }, host: string, port: number): SvcError {
  if (error.code === 'EADDRINUSE') {
    return new SvcError('config', `Port ${port} on ${host} is already in use`, {
      cause: error,
      cure: 'Stop the program that uses it, or choose another port with --port or SVC_PORT.',
    });
  }
  if (error.code === 'EACCES') {
    return new SvcError('config', `This user may not listen on port ${port}`, {
      cause: error,
      cure: 'Choose a port above 1023.',
    });
  }
  const reason =
    error.code === 'EADDRNOTAVAIL' ? 'this machine has no such address' : error.message;
  return new SvcError('config', `Cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}
