/**
 * The end of a connection that leaves HTTP: what is refused outside of a request's own answer
 * goes out, and then the descriptor is given back whether the client takes notice or not.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Time for a client to read the last words. Closed at once, with bytes of its own unread, the
 * connection would be reset, and the words lost with it (RFC 9112 §9.6).
 */
const LINGER_MS = 1000;

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
