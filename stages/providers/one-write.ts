/**
 * Sends a short request in one piece. Our HTTP library writes head and body apart, between `cork`
 * and `uncork`, and node then makes a list of a text and a buffer, which costs more to write than
 * one text that holds both.
 */
import type { Socket } from 'node:net';

/** A body up to this size is copied into the text; node tries to write no longer text at once. */
const JOINED_BYTES = 12 * 1024;

/** Makes `socket` write a corked head and the short body behind it together. Returns the same socket. */
export function writeAtOnce(socket: Socket): Socket {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  const uncork = socket.uncork.bind(socket);
  /** The head that waits for its body. */
  let head: string | undefined;
  socket.write = (...given: unknown[]): boolean => {
    const [data, encoding] = given;
    if (head === undefined) {
      if (typeof data !== 'string' || encoding !== 'latin1' || socket.writableCorked === 0)
        return write(...given);
      head = data;
      return true;
    }
    const first = head;
    head = undefined;
    if (given.length === 1 && Buffer.isBuffer(data) && data.length <= JOINED_BYTES)
      return write(first + data.toString('latin1'), 'latin1');
    write(first, 'latin1');
    return write(...given);
  };
  socket.uncork = (): void => {
    const last = head;
    head = undefined;
    if (last !== undefined) write(last, 'latin1');
    uncork();
  };
  return socket;
}
