/**
 * Counts incoming WebSocket bytes until a message is complete: the library collects the frames of a
 * message and reports nothing before its end.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { SvcError } from '../../engine/index.ts';
import type { Arrival, InFlight } from '../http/in-flight.ts';

/** Header and mask of a control frame from a client (RFC 6455 §5.2, §5.5). */
const CONTROL_BYTES = 6;

/**
 * Starts counting for `client` on its `socket`. `fail` is called with the reason why the current
 * message is refused; further data is then discarded, and the bytes that the library holds count
 * until the connection closes.
 */
export function countArriving(
  client: WebSocket,
  socket: Socket,
  inFlight: InFlight,
  fail: (error: SvcError) => void,
): void {
  let arrival: Arrival | undefined;
  let bytes = 0;
  const end = (): void => {
    arrival?.close();
    arrival = undefined;
    bytes = 0;
  };
  // Runs before the library's own listener, which reports the message that a chunk completes.
  socket.prependListener('data', (piece: Buffer) => {
    bytes += piece.length;
    arrival ??= inFlight.open((error) => {
      // Otherwise the library would keep collecting the message for as long as the client sends it.
      socket.removeAllListeners('data').on('data', () => undefined);
      fail(error);
    });
    arrival.add(piece.length);
  });
  // Control frames may come between the frames of a message; they are not part of it.
  const discount = (payload: Buffer): void => {
    const control = payload.length + CONTROL_BYTES;
    bytes -= control;
    if (bytes <= 0) end();
    else arrival?.add(-control);
  };
  client.on('message', end);
  client.on('ping', discount);
  client.on('pong', discount);
  client.on('close', end);
}
