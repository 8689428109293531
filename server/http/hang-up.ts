/**
 * Ends a connection whose client may still be sending. The error response must reach the client,
 * and the descriptor must be released whether or not the client reacts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isBroken } from './body.ts';

/**
 * Time for a client to read the final response. If closed at once with unread bytes from the
 * client, the connection would be reset and the response lost (RFC 9112 §9.6).
 */
const LINGER_MS = 1000;

/** Limits on the rest of a request that was answered early: in total, and for each pause. */
const REST_MS = 30_000;
const REST_PAUSE_MS = 5000;

/**
 * Sends `body`, whose length is in the head of `response`, and ends the response when the client
 * has sent the rest of the request, which is discarded. If ended earlier, the connection would
 * close while the client still writes, and the client would see a broken pipe instead of the
 * response.
 */
export function endEarly(response: ServerResponse, body: Buffer | undefined): void {
  const { req: request } = response;
  if (!hasBody(request) || request.complete || isBroken(request)) {
    response.end(body);
    request.resume();
    return;
  }
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  let pause = setTimeout(finish, REST_PAUSE_MS);
  const deadline = setTimeout(finish, REST_MS);
  function finish(): void {
    clearTimeout(pause);
    clearTimeout(deadline);
    request.off('data', discard).off('end', finish).off('close', finish);
    response.off('close', finish);
    if (!response.writableEnded) response.end();
  }
  function discard(): void {
    clearTimeout(pause);
    pause = setTimeout(finish, REST_PAUSE_MS);
  }
  request.on('data', discard).on('end', finish).on('close', finish);
  request.on('error', finish);
  response.on('close', finish);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Sends `bytes` and ends the connection; a client that keeps its side open is cut off soon after.
 */
export function hangUp(socket: Duplex, bytes: Buffer): void {
  socket.on('error', () => undefined);
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  // Incoming data is discarded; left unread, it would hide that the client has gone.
  socket.on('data', () => undefined);
  socket.end(bytes);
}

/**
 * Calls `then` once `response`, the last one in progress on the connection, has been sent; bytes of
 * ours before that would be read as part of it. If the client leaves meanwhile, the connection is
 * closed.
 */
export function afterResponse(
  socket: Duplex,
  response: ServerResponse | undefined,
  then: () => void,
): void {
  if (response === undefined || response.writableFinished || response.destroyed) {
    then();
    return;
  }
  // A connection detached from HTTP has no reader, so its end would go unnoticed.
  const check = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  const leave = (): void => void socket.destroy();
  socket.on('error', () => undefined);
  socket.on('readable', check).once('end', leave);
  response.once('close', () => {
    socket.off('readable', check).off('end', leave);
    if (!socket.destroyed && socket.writable) then();
    else socket.destroy();
  });
}
