/**
 * The far end of a measured tunnel, in its own process. The first line is a command: `D <bytes>`
 * sends that many, `U <bytes>` reads that many and then sends one.
 */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { serveParent } from './channel.ts';

const PIECE = Buffer.alloc(64 * 1024, 'x');

function send(socket: Socket, bytes: number): void {
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      const piece = left >= PIECE.length ? PIECE : PIECE.subarray(0, left);
      left -= piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', more);
        return;
      }
    }
  };
  more();
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (first: Buffer) => {
    const end = first.indexOf('\n');
    const [direction, bytes] = first.toString('latin1', 0, end).split(' ');
    if (direction === 'D') {
      send(socket, Number(bytes));
      return;
    }
    let left = Number(bytes) - (first.length - end - 1);
    socket.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left === 0) socket.write('.');
    });
  });
});
server.listen(0, '127.0.0.1', () => {
  serveParent((server.address() as AddressInfo).port, {});
});
