/**
 * A client that disconnects: at every phase the upstream is closed and the row says `cancelled`. A
 * client that reads slowly: the upstream is paused and little is buffered. `npm run bench:limits`
 * measures how soon the upstream is closed.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, json, openSocket } from '../../../fixtures/server/exchange.ts';
import {
  WINDOWS,
  disconnectClients,
  post,
} from '../../../fixtures/server/disconnecting-clients.ts';
import { pause, until } from '../../../fixtures/wait.ts';

const ATTEMPTS = 10;

for (const window of [...WINDOWS, 'WebSocket'] as const) {
  const name = window === 'WebSocket' ? window : window.name;
  test(`a client that leaves: ${name}`, () =>
    withProxy({}, async (t) => {
      const { delaysMs } = await disconnectClients(t, window, ATTEMPTS);
      assert.is(delaysMs.length, ATTEMPTS);
      const rows = await t.rows(ATTEMPTS);
      assert.is(rows.length, ATTEMPTS);
      assert.equal([...new Set(rows.map((row) => row.outcome))], ['cancelled']);
      await until('nothing runs any more', () => t.proxy.app.running.size === 0);
    }));
}

test('a client that leaves before its body is complete has a row, and no provider is called', () =>
  withProxy({}, async (t) => {
    const socket = await openSocket(t.proxy.port);
    socket.write(post(json(MESSAGE)).slice(0, -5));
    await until('the request is running', () => t.proxy.app.running.size === 1);
    socket.destroy();
    const [row] = await t.rows(1);
    assert.is(row?.outcome, 'cancelled');
    assert.is(t.upstream.requests.length, 0);
  }));

const READERS = 10;

test('a client that stops reading pauses the upstream', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'flood', { bytes: 16_384 });
    const sockets: Socket[] = [];
    for (let n = 0; n < READERS; n += 1) {
      const socket = await openSocket(t.proxy.port, true);
      socket.write(post(json(MESSAGE, { stream: true })));
      sockets.push(socket);
    }
    const { connections } = t.upstream;
    await until(
      'all are paused',
      () => connections.length === READERS && connections.every((connection) => connection.paused),
    );
    // Kernel buffers grow for some time: they are full once no more bytes are accepted.
    let last = -1;
    await until('no more is taken from the upstream', async () => {
      const before = last;
      last = connections.reduce((sum, connection) => sum + connection.bytesWritten, 0);
      await pause(100);
      return last === before;
    });
    for (const socket of sockets) socket.destroy();
    const rows = await t.rows(READERS);
    assert.equal([...new Set(rows.map((row) => row.outcome))], ['cancelled']);
  }));

test('a client that reads slowly gets every byte', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'flood', { bytes: 16_384, count: 400 });
    const socket = await openSocket(t.proxy.port, true);
    socket.write(
      post(json(MESSAGE, { stream: true })).replace('Host', 'Connection: close\r\nHost'),
    );
    await until('the pause', () => t.upstream.connections[0]?.paused === true);
    let sizeBytes = 0;
    socket.on('data', (piece: Buffer) => (sizeBytes += piece.length)).resume();
    await once(socket, 'close');
    assert.ok(sizeBytes > 400 * 16_384, `${sizeBytes} bytes arrived`);
    assert.is((await t.rows(1))[0]?.outcome, 'partial', 'a flood has no terminator');
  }));

test.after(closeClients);
test.run();
