/**
 * The two listeners: HTTP, and WebSocket on a port of its own. Time and size
 * limits of connections are set here; who is let in is the gate's to say.
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

/** Size of a request head above which the answer is 431. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Time for a request head, from its first byte. */
const HEAD_TIMEOUT_MS = 10_000;
/** An idle connection is kept this long. */
const KEEP_ALIVE_MS = 75_000;
/** How often slow connections are looked for. */
const CHECK_INTERVAL_MS = 1000;

export interface ListenerHandlers {
  /** When requests are begun. */
  readonly turn: Turn;
  handle(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, firstBytes: Buffer): void;
  /** Answers a `CONNECT`; absent where none is. What comes out of one may be given to `server` as a connection. */
  readonly connect?:
    | ((request: IncomingMessage, socket: Socket, firstBytes: Buffer, server: Server) => void)
    | undefined;
  newId(): string;
}

export type Listener = Awaited<ReturnType<typeof listen>>;

/** By connection, the response that is under way; one that is over would keep its request alive with it. */
type Responses = WeakMap<Duplex, ServerResponse>;

function onClientError(newId: () => string, responses: Responses) {
  return (error: Error & { code?: string }, socket: Duplex) => {
    const response = responses.get(socket);
    const isResponding = response?.writableFinished === false;
    if (isResponding && isBrokenBody(error, response)) {
      // Nothing was written yet: the reader of the body reports what was wrong with it.
      response.shouldKeepAlive = false;
      breakBody(response.req, toFailure(error));
      return;
    }
    // Words of ours in the middle of an answer would be taken for a part of it.
    if (error.code === 'ECONNRESET' || !socket.writable || isResponding) socket.destroy();
    else hangUp(socket, rawErrorResponse(toFailure(error), newId()));
  };
}

/** True if the body of the request that is being answered cannot be read, and its client still waits. */
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
    // The gate asks for it, with an answer like every other.
    requireHostHeader: false,
    headersTimeout: HEAD_TIMEOUT_MS,
    // A large body over a slow line may take its time; whoever reads it bounds the gaps.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    noDelay: true,
  });
  // node hides fields past its limit without a word, so we count them ourselves.
  server.maxHeadersCount = 0;
  const responses: Responses = new WeakMap();
  const pipelines = createPipelines((socket) => responses.get(socket));
  function forget(this: ServerResponse): void {
    const { socket } = this.req;
    if (responses.get(socket) === this) responses.delete(socket);
  }
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    // A socket may fail at any moment; what that means is decided by 'close'.
    response.on('error', () => undefined);
    pipelines.enter(request.socket, response, () => {
      handlers.turn.first(() => {
        // Nobody waits for the answer any more, and nothing was done for it yet.
        if (!request.socket.destroyed) handlers.handle(request, response);
      });
    });
    responses.set(request.socket, response);
    response.on('close', forget);
  };
  server.on('request', handle);
  // Not answered by node itself: whoever reads the body says `100 Continue`, behind the gate.
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
 * A server that does not know the protocol of an `Upgrade` answers as if the field were not
 * there (RFC 9110 §7.8); some clients send `h2c` with every first request. node has taken the
 * connection out of HTTP by now, so the request is put back in front of it without the field.
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

/** Listens on `host:port` (0 picks a free port). Throws `config` where that is not possible. */
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
    /** Takes no new connection, closes idle ones, and resolves when the last one has ended. */
    close: () => new Promise<void>((closed) => server.close(() => closed())),
    /** Ends every connection at once. */
    destroy(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What node's error means for whoever chose the address. */
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
