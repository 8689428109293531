/** Bodies and messages that never end: the memory they may hold in total, and for how long. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { createManualClock } from '../../engine/index.ts';
import { withProxyProcess } from '../../fixtures/proxy-process.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { until } from '../../fixtures/wait.ts';
import { PROGRESS_WINDOW_MS, createInFlight } from './in-flight.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openSocket,
} from '../../fixtures/server/exchange.ts';

const MB = 1024 * 1024;
const YAML = `advanced: { max_bytes_in_flight: ${4 * MB} }`;
const ZEROS = Buffer.alloc(MB, 0x20);

/** Begins a POST that declares `sizeBytes` and sends only `sent`. */
async function begin(port: number, sizeBytes: number, sent: Buffer): Promise<Socket> {
  const socket = await openSocket(port);
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${sizeBytes}\r\n\r\n`,
  );
  socket.write(sent);
  return socket;
}

test('incoming bodies share a memory limit and release their share when they end', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    const { proxy, upstream } = t;
    const { inFlight } = proxy.services;
    const sockets = await Promise.all([1, 2, 3].map(() => begin(proxy.port, 8 * MB, ZEROS)));
    await until('three are held', () => inFlight.heldBytes === 3 * MB);
    const more = await begin(proxy.port, 8 * MB, Buffer.concat([ZEROS, ZEROS]));
    const [piece] = (await once(more, 'data')) as [Buffer];
    assert.match(piece.toString(), /^HTTP\/1.1 503 [^]*max_bytes_in_flight/);
    assert.is(inFlight.heldBytes, 3 * MB, 'a refused body holds nothing');
    // A small request still fits.
    assert.is((await exchange(proxy.port, { body: json(MESSAGE) })).status, 200);
    for (const socket of [...sockets, more]) socket.destroy();
    await until('all is given back', () => inFlight.heldBytes === 0);
    assert.is(upstream.requests.length, 1);
    assert.is((await t.rows(5)).filter((row) => row.status === 503).length, 1);
  });
});

/**
 * Opens a WebSocket on a raw connection, begins a text message of `sizeBytes`, and sends `sent` of
 * it whatever comes back.
 */
async function beginMessage(port: number, sizeBytes: number, sent: number): Promise<Socket> {
  const socket = await openSocket(port);
  socket.on('error', () => undefined);
  socket.write(
    'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(socket, 'data');
  // RFC 6455 §5.2: a final text frame, its length in 64 bits, and a mask that changes nothing.
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff);
  head.writeUInt32BE(sizeBytes, 6);
  socket.write(head);
  for (let at = 0; at < sent; at += ZEROS.length)
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.write(ZEROS, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
  return socket;
}

test('a refused message is discarded as it arrives', async () => {
  const upstream = await startUpstream({});
  try {
    await withProxyProcess({ upstreamUrl: upstream.url, yaml: YAML }, async ({ child, port }) => {
      const memory = async (): Promise<number> => {
        const answer = once(child, 'message') as Promise<[{ arrayBuffers: number }]>;
        child.send('memory');
        return (await answer)[0].arrayBuffers;
      };
      const idle = await memory();
      const clients = Array.from({ length: 12 }, () => beginMessage(port, 10 * MB, 9 * MB));
      const sockets = await Promise.all(clients);
      // Nothing more arrives, so what is kept stays; V8 frees the memory of collected buffers
      // later.
      await until('4 of 108 MB may be kept', async () => (await memory()) - idle < 24 * MB);
      for (const socket of sockets) socket.destroy();
    });
  } finally {
    await upstream.close();
  }
});

test('a complete body no longer counts against the limit', async () => {
  await withProxy({ yaml: YAML }, async ({ proxy }) => {
    const body = json({ ...MESSAGE, padding: 'x'.repeat(3 * MB) });
    for (let n = 0; n < 4; n += 1)
      assert.is((await exchange(proxy.port, { body })).status, 200, String(n));
    assert.is(proxy.services.inFlight.heldBytes, 0);
  });
});

test('a body is reassembled from any number of chunks', async () => {
  await withProxy({}, async ({ proxy, upstream }) => {
    const body = json({ ...MESSAGE, padding: 'x'.repeat(3000) });
    const socket = await begin(proxy.port, body.length, Buffer.alloc(0));
    socket.setNoDelay(true);
    for (const byte of Buffer.from(body)) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [piece] = (await once(socket, 'data')) as [Buffer];
    assert.match(piece.toString(), /^HTTP\/1.1 200 /);
    assert.is(upstream.requests[0]?.body.toString(), body);
    socket.destroy();
  });
});

test('a single byte now and then does not count as progress', () => {
  const clock = createManualClock(0);
  const inFlight = createInFlight(clock, 1000 * MB);
  let why = '';
  const slow = inFlight.open((error) => (why = error.message));
  assert.ok(slow.add(20 * MB));
  clock.advance(PROGRESS_WINDOW_MS);
  assert.is(why, '');
  for (let second = 0; second < 29; second += 1) {
    assert.ok(slow.add(1));
    clock.advance(1000);
  }
  assert.is(why, '');
  clock.advance(1000);
  assert.match(why, 'did not arrive');
  assert.not.ok(slow.add(1));
  assert.is(inFlight.heldBytes, 20 * MB + 29, 'received bytes count until they are released');
  slow.close();
  slow.close();
  assert.is(inFlight.heldBytes, 0);
});

test('a slow connection that makes progress is not closed', () => {
  const clock = createManualClock(0);
  const inFlight = createInFlight(clock);
  const steady = inFlight.open(() => assert.unreachable('it continues'));
  for (let second = 0; second < 3600; second += 1) {
    assert.ok(steady.add(1024));
    clock.advance(1000);
  }
  assert.is(inFlight.heldBytes, 3600 * 1024);
  steady.close();
  assert.is(inFlight.heldBytes, 0);
});

test('a complete message that is queued counts against the limit', () => {
  const inFlight = createInFlight(createManualClock(0), 10);
  const release = inFlight.claim(8);
  assert.ok(release);
  assert.is(inFlight.claim(3), undefined);
  release();
  release();
  assert.is(inFlight.heldBytes, 0);
});

test('WebSocket messages count against the limit until they are complete, pings do not', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    const { proxy } = t;
    const { inFlight } = proxy.services;
    const url = `ws://127.0.0.1:${proxy.port}/ws`;
    const [one, two] = [new WebSocket(url), new WebSocket(url)];
    for (const client of [one, two]) client.on('error', () => undefined);
    await Promise.all([once(one, 'open'), once(two, 'open')]);
    one.send(ZEROS, { fin: false });
    one.send(ZEROS, { fin: false });
    await until('two are held', () => inFlight.heldBytes > 2 * MB);
    const before = inFlight.heldBytes;
    one.ping(Buffer.alloc(100));
    two.ping(Buffer.alloc(100));
    await Promise.all([once(one, 'pong'), once(two, 'pong')]);
    await until('a ping holds nothing', () => inFlight.heldBytes === before);
    const answers: string[] = [];
    two.on('message', (data: Buffer) => answers.push(data.toString()));
    const closed = once(two, 'close');
    for (let n = 0; n < 3; n += 1) two.send(ZEROS, { fin: false });
    const [code] = (await closed) as [number];
    assert.is(code, 1013);
    assert.match(answers.join(''), 'max_bytes_in_flight');
    await until('a refused message holds nothing', () => inFlight.heldBytes === before);
    one.terminate();
    await until('all is given back', () => inFlight.heldBytes === 0);
    assert.is((await t.rows(1))[0]?.endpoint, '/ws');
    const three = new WebSocket(url);
    await once(three, 'open');
    three.send(JSON.stringify({ ...MESSAGE, stream: false }));
    await once(three, 'message');
    assert.is(inFlight.heldBytes, 0);
    three.terminate();
  });
});

test.after(closeClients);
test.run();
