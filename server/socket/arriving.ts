/**
 * Counts what a WebSocket connection is sent until a message is whole: the library collects the
 * frames of one and reports nothing before its end.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { SvcError } from '../../engine/index.ts';
import type { Arrival, InFlight } from '../http/in-flight.ts';

/** Header and mask of a control frame from a client (RFC 6455 §5.2, §5.5). */
const CONTROL_BYTES = 6;

/**
 * Counts for `client` on its `socket`. `fail` is called with the reason why the message under way is
 * not taken; from then on what arrives is thrown away, and what the library holds of the message
 * counts until the connection is closed.
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
  // Before the library's own listener, which reports the message that a piece completes.
  socket.prependListener('data', (piece: Buffer) => {
    bytes += piece.length;
    arrival ??= inFlight.open((error) => {
      // The library would go on to collect the message for as long as the client sends it.
      socket.removeAllListeners('data').on('data', () => undefined);
      fail(error);
    });
    arrival.add(piece.length);
  });
  // Between the frames of a message there may be others, which are no part of it.
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
