/** Head and body of a short request, as they reach the system. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeAtOnce } from './one-write.ts';

const HEAD = 'POST / HTTP/1.1\r\nx: \xe9\r\n\r\n';

/** What `write` gives to a connection: the bytes that arrive, and how many pieces node was given. */
async function sent(write: (socket: Socket) => void): Promise<readonly [Buffer, number]> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const socket = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
  const accepted = once(server, 'connection', { signal: AbortSignal.timeout(120_000) });
  await once(socket, 'connect');
  const [other] = (await accepted) as [Socket];
  const pieces: Buffer[] = [];
  other.on('data', (piece: Buffer) => void pieces.push(piece));
  let writes = 0;
  const plain = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]): boolean => {
    writes += 1;
    return plain(...given);
  };
  write(writeAtOnce(socket));
  socket.end();
  await once(other, 'end', { signal: AbortSignal.timeout(120_000) });
  server.close();
  return [Buffer.concat(pieces), writes];
}

function corked(socket: Socket, body: Buffer | undefined): void {
  socket.cork();
  socket.write(HEAD, 'latin1');
  if (body !== undefined) socket.write(body);
  socket.uncork();
}

const EVERY_BYTE = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));

test('a head and a short body are one write, byte for byte', async () => {
  const [bytes, writes] = await sent((socket) => corked(socket, EVERY_BYTE));
  assert.ok(bytes.equals(Buffer.concat([Buffer.from(HEAD, 'latin1'), EVERY_BYTE])));
  assert.is(writes, 1);
});

test('a long body goes behind its head as it is', async () => {
  const body = Buffer.alloc(300_000, EVERY_BYTE);
  const [bytes, writes] = await sent((socket) => corked(socket, body));
  assert.ok(bytes.equals(Buffer.concat([Buffer.from(HEAD, 'latin1'), body])));
  assert.is(writes, 2);
});

test('a head without a body is not held, nor what is not corked', async () => {
  const [bytes] = await sent((socket) => {
    corked(socket, undefined);
    socket.write('a', 'latin1');
    socket.write(Buffer.from('b'));
    corked(socket, Buffer.from('c'));
  });
  assert.is(bytes.toString('latin1'), `${HEAD}ab${HEAD}c`);
});

test.run();
