/**
 * The end of a connection whose client may still send. What is refused must get through to it, and
 * the descriptor must be given back whether the client takes notice or not.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isBroken } from './body.ts';

/**
 * Time for a client to read the last words. Closed at once, with bytes of its own unread, the
 * connection would be reset, and the words lost with it (RFC 9112 §9.6).
 */
const LINGER_MS = 1000;

/** A request that was answered early may go on for so long, with pauses of so long. */
const REST_MS = 30_000;
const REST_PAUSE_MS = 5000;

/**
 * Sends `body`, whose length the head of `response` names, and ends the response when its client has
 * sent the rest of the request, which is thrown away. Ended before, the connection would be closed
 * under a client that still writes, which then sees a broken pipe in place of the answer.
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
  const rest = setTimeout(finish, REST_MS);
  function finish(): void {
    clearTimeout(pause);
    clearTimeout(rest);
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

/** Sends `bytes` and ends the connection; a client that keeps its side open is cut off soon after. */
export function hangUp(socket: Duplex, bytes: Buffer): void {
  socket.on('error', () => undefined);
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  // What is still sent is thrown away; unread, it would hide that the client is gone.
  socket.on('data', () => undefined);
  socket.end(bytes);
}

/**
 * Calls `then` once `response`, the last one under way on the connection, has left; bytes of ours
 * before that would be taken for a part of it. A client that leaves while it waits is let go.
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
  // Nobody reads a connection that has left HTTP, so nobody would see its end.
  const look = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  const leave = (): void => void socket.destroy();
  socket.on('error', () => undefined);
  socket.on('readable', look).once('end', leave);
  response.once('close', () => {
    socket.off('readable', look).off('end', leave);
    if (!socket.destroyed && socket.writable) then();
    else socket.destroy();
  });
}
