/**
 * Connections that break or leave HTTP: their descriptors are closed, and nothing writes into a
 * running response.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, json, openSocket } from '../../fixtures/server/exchange.ts';

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const upgrade = (fields: string, path = '/ws') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}${fields}\r\n`;

/**
 * Sends `bytes` and never closes its side. Says whether the other end closed its descriptor
 * `withinMs` after the end of the response, which a client learns when a write fails.
 */
async function isGivenBack(port: number, bytes: string, withinMs: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  let failed = false;
  socket.on('data', (piece: Buffer) => (text += piece.toString()));
  socket.on('error', () => (failed = true));
  socket.write(bytes);
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  const untilMs = Date.now() + withinMs;
  while (!failed && !socket.destroyed && Date.now() < untilMs) {
    socket.write('x');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const [status = ''] = text.split('\r\n');
  socket.destroy();
  return `${status.slice(0, 12)} ${failed ? 'given back' : 'kept'}`;
}

test('no descriptor stays open after CONNECT, a refused upgrade or an invalid head', async () => {
  await withProxy({}, async ({ proxy }) => {
    const cases = [
      ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 'HTTP/1.1 405'],
      [upgrade('Origin: https://evil.example\r\n'), 'HTTP/1.1 403'],
      [upgrade('', '/elsewhere'), 'HTTP/1.1 404'],
      ['this is no HTTP\r\n\r\n', 'HTTP/1.1 400'],
    ] as const;
    const actual = await Promise.all(
      cases.map(([bytes]) => isGivenBack(proxy.port, bytes, 120_000)),
    );
    assert.equal(
      actual,
      cases.map(([, status]) => `${status} given back`),
    );
  });
});

/** Writes a body of `sizeBytes` in pieces, each once the previous one was accepted. */
async function writeSlowly(socket: Socket, sizeBytes: number, framed: boolean): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 0x20);
  const chunk = framed
    ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
    : piece;
  for (let sent = 0; sent < sizeBytes; sent += piece.length)
    await new Promise<void>((resolve, reject) =>
      socket.write(chunk, (error) => (error ? reject(error) : resolve())),
    );
  if (framed) socket.write('0\r\n\r\n');
}

test('a client that is refused while sending can finish sending and read the reason', () =>
  withProxy({ yaml: 'advanced: { max_request_size_bytes: 20000 }' }, async ({ proxy }) => {
    const size = 8 * 1024 * 1024;
    for (const path of ['/v1/messages', '/ingest'])
      for (const framed of [false, true]) {
        const name = `${path} ${framed ? 'chunked' : 'with its length'}`;
        const socket = await openSocket(proxy.port);
        const pieces: Buffer[] = [];
        socket.on('data', (bytes: Buffer) => pieces.push(bytes));
        const first = once(socket, 'data');
        const framing = framed ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`;
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
        );
        // Most of the body is sent after the response has arrived.
        const piece = Buffer.alloc(64 * 1024, 0x20);
        socket.write(framed ? `10000\r\n${piece.toString()}\r\n` : piece);
        await first;
        await writeSlowly(socket, size - piece.length, framed);
        await once(socket, 'end', { signal: AbortSignal.timeout(120_000) });
        const [head = '', body = ''] = Buffer.concat(pieces).toString().split('\r\n\r\n');
        assert.match(head, /^HTTP\/1\.1 413 /, name);
        assert.type(JSON.parse(body).error.message, 'string', name);
        socket.destroy();
      }
  }));

test('no descriptor stays open after a head that did not arrive in time', async () => {
  await withProxy({}, async ({ proxy }) => {
    const head = 'POST /v1/messages HTTP/1.1\r\nHost: loc';
    assert.is(await isGivenBack(proxy.port, head, 120_000), 'HTTP/1.1 400 given back');
  });
});

test('an upgrade or CONNECT pipelined after a running response waits until that response ends', async () => {
  await withProxy({}, async (t) => {
    for (const [bytes, after] of [
      [upgrade(''), /^HTTP\/1.1 101 /],
      [upgrade('Origin: https://evil.example\r\n'), /^HTTP\/1.1 403 /],
      ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', /^HTTP\/1.1 405 /],
      [
        'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
        /^HTTP\/1.1 200 /,
      ],
    ] as const) {
      t.upstream.script(undefined, 'events', { count: 10, everyMs: 20 });
      const body = json(MESSAGE, { stream: true });
      const socket = connect({ port: t.proxy.port, host: '127.0.0.1' });
      let text = '';
      socket.on('data', (piece: Buffer) => (text += piece.toString()));
      socket.on('error', () => undefined);
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${bytes}`,
      );
      const end = '\r\n0\r\n\r\n';
      const untilMs = Date.now() + 120_000;
      const textAfterEnd = () => text.slice(text.indexOf(end) + end.length);
      while ((!text.includes(end) || textAfterEnd() === '') && Date.now() < untilMs)
        await new Promise((resolve) => setTimeout(resolve, 10));
      assert.match(text, /^HTTP\/1.1 200 /);
      assert.match(text, 'message_stop');
      assert.is(text.slice(0, text.indexOf(end)).match(/HTTP\/1.1/g)?.length, 1, bytes);
      assert.match(textAfterEnd(), after, bytes);
      socket.destroy();
    }
  });
});

test('a client that leaves while its upgrade waits cancels the running request', async () => {
  await withProxy({}, async (t) => {
    t.upstream.script(undefined, 'events', { count: 400, everyMs: 20 });
    const body = json(MESSAGE, { stream: true });
    const socket = connect({ port: t.proxy.port, host: '127.0.0.1' });
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}${upgrade('')}`,
    );
    await once(socket, 'data');
    socket.end();
    assert.is((await t.rows(1))[0]?.outcome, 'cancelled');
  });
});

test.run();
