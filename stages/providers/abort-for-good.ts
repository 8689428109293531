/**
 * Keeps the HTTP library from opening another connection for a request that was just aborted. When
 * it destroys a socket on an abort, its own error makes the request count as not yet sent (undici
 * 7.30.2, `onHttpSocketClose` in `client-h1.js`), so it reconnects, finds the request aborted, and
 * leaves the connection unused: 10 cancelled streams made 20 connections.
 */
import type { Socket } from 'node:net';
import { errors } from 'undici';

/** Makes an abort also end the request running on `socket`. Returns the same socket. */
export function abortForGood(socket: Socket): Socket {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) =>
    destroy(isAbort(error) ? new errors.RequestAbortedError(error.message) : error);
  return socket;
}

function isAbort(error: Error | undefined): error is Error {
  return error instanceof errors.InformationalError && error.message === 'aborted';
}
