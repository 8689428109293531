/**
 * The two listeners: HTTP, and WebSocket on its own port. Sets connection timeouts and size limits;
 * admission is the gate's decision.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SvcError } from '../../engine/index.ts';
import type { Turn } from '../../engine/index.ts';
import { headersTooLarge, malformedRequest, noTunnel } from '../../stages/model/errors.ts';
import { withoutHeaders } from '../../stages/model/headers.ts';
import { breakBody } from './body.ts';
import { createPipelines } from './pipelining.ts';
import { rawErrorResponse } from './error-response.ts';
import { afterResponse, hangUp } from './hang-up.ts';

/** Request heads above this size are answered with 431. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Time limit for a request head, from its first byte. */
const HEAD_TIMEOUT_MS = 10_000;
/** How long an idle connection is kept open. */
const KEEP_ALIVE_MS = 75_000;
/** Interval at which slow connections are checked. */
const CHECK_INTERVAL_MS = 1000;

export interface ListenerHandlers {
  /** Schedules the start of requests. */
  readonly turn: Turn;
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): void;
  /**
   * Handles a `CONNECT`; absent if it is not supported. The stream inside the tunnel may be
   * passed to `server` as a connection.
   */
  readonly connect?:
    | ((request: IncomingMessage, socket: Socket, firstBytes: Buffer, server: Server) => void)
    | undefined;
  newId(): string;
}

export type Listener = Awaited<ReturnType<typeof listen>>;

/**
 * The response in progress on each connection; a finished response would keep its request in
 * memory.
 */
type Responses = WeakMap<Duplex, ServerResponse>;

function onClientError(newId: () => string, responses: Responses) {
  return (error: Error & { code?: string }, socket: Duplex) => {
    const response = responses.get(socket);
    const isResponding = response?.writableFinished === false;
    if (isResponding && isBrokenBody(error, response)) {
      // Nothing has been written yet, so the reader of the body can report the error.
      response.shouldKeepAlive = false;
      breakBody(response.req, toFailure(error));
      return;
    }
    // An error response in the middle of another response would be read as part of it.
    if (error.code === 'ECONNRESET' || !socket.writable || isResponding) socket.destroy();
    else hangUp(socket, rawErrorResponse(toFailure(error), newId()));
  };
}

/**
 * True if the body of the request being answered cannot be parsed and its client is still waiting.
 */
function isBrokenBody(error: Error & { code?: string }, response: ServerResponse): boolean {
  const isSyntax =
    error.code?.startsWith('HPE_') === true && error.code !== 'HPE_INVALID_EOF_STATE';
  return isSyntax && !response.req.complete && !response.headersSent && !response.destroyed;
}

function toFailure({ code }: Error & { code?: string }): SvcError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return headersTooLarge(`The request head is over ${MAX_HEAD_BYTES} bytes`);
  }
  return malformedRequest(
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The request did not arrive in time'
      : 'The request is not valid HTTP/1.1',
  );
}

function createListener(handlers: ListenerHandlers): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
    // The gate checks it, so that the error response has our usual form.
    requireHostHeader: false,
    headersTimeout: HEAD_TIMEOUT_MS,
    // A large body over a slow line may take long; the reader of the body limits the gaps.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
    // One piece of a response fits, so that the end of a short stream leaves in the same write.
    highWaterMark: 32 * 1024,
  });
  // node silently hides fields past its limit, so we count them ourselves.
  server.maxHeadersCount = 0;
  const responses: Responses = new WeakMap();
  const pipelines = createPipelines((socket) => responses.get(socket));
  function forget(this: ServerResponse): void {
    const { socket } = this.req;
    if (responses.get(socket) === this) responses.delete(socket);
  }
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    // A socket may fail at any moment; 'close' handles the consequences.
    response.on('error', () => undefined);
    pipelines.enter(request.socket, response, () => {
      handlers.turn.first(() => {
        // The client has gone and no work has been done yet.
        if (!request.socket.destroyed) handlers.handle(request, response);
      });
    });
    responses.set(request.socket, response);
    response.on('close', forget);
  };
  server.on('request', handle);
  // node must not answer these itself: the body reader sends `100 Continue`, after the gate has
  // admitted the request.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('connect', (request, socket: Socket, firstBytes) => {
    afterResponse(socket, responses.get(socket), () => {
      if (handlers.connect !== undefined) handlers.connect(request, socket, firstBytes, server);
      else hangUp(socket, rawErrorResponse(noTunnel(), handlers.newId()));
    });
  });
  server.on('upgrade', (request, socket, firstBytes) => {
    afterResponse(socket, responses.get(socket), () => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') {
        handlers.upgrade(request, socket, firstBytes);
      } else ignoreUpgrade(server, request, socket, firstBytes);
    });
  });
  server.on(
    'clientError',
    onClientError(() => handlers.newId(), responses),
  );
  return server;
}

/**
 * A server that does not support the protocol of an `Upgrade` ignores the field (RFC 9110 §7.8);
 * some clients send `h2c` with every first request. By now node has detached the connection from
 * HTTP, so the request is put back onto the socket without the field.
 */
function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  firstBytes: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  const kept = withoutHeaders(rawHeaders, (name) => name === 'upgrade');
  for (let i = 0; i + 1 < kept.length; i += 2) lines.push(`${kept[i]}: ${kept[i + 1]}`);
  socket.unshift(
    Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), firstBytes]),
  );
  server.emit('connection', socket);
}

/** Listens on `host:port` (0 picks a free port). Throws `config` if that fails. */
export async function listen(host: string, port: number, handlers: ListenerHandlers) {
  const server = createListener(handlers);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(toListenError(error, host, port)),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
  const address = server.address() as AddressInfo;
  return {
    host,
    port: address.port,
    /** Stops accepting connections, closes idle ones, and resolves when the last one has ended. */
    close: () => new Promise<void>((closed) => server.close(() => closed())),
    /** Ends every connection at once. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Converts a node listen error to a `config` error that says what to do. */
export function toListenError(error: NodeJS.ErrnoException, host: string, port: number): SvcError {
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
