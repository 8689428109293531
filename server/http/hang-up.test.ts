/** Connections that leave HTTP: their descriptors are given back, and nothing writes into a running answer. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, json } from '../../fixtures/server/exchange.ts';

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const upgrade = (fields: string, path = '/ws') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}${fields}\r\n`;

/**
 * Sends `bytes` and never closes its side: whether the descriptor at the other end is gone `withinMs`
 * after the answer's end, which a client learns when what it writes is refused.
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

test('after CONNECT, a refused upgrade and a bad head nobody can hold the descriptor', async () => {
  await withProxy({}, async ({ proxy }) => {
    const cases = [
      ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 'HTTP/1.1 405'],
      [upgrade('Origin: https://evil.example\r\n'), 'HTTP/1.1 403'],
      [upgrade('', '/elsewhere'), 'HTTP/1.1 404'],
      ['this is no HTTP\r\n\r\n', 'HTTP/1.1 400'],
    ] as const;
    const got = await Promise.all(cases.map(([bytes]) => isGivenBack(proxy.port, bytes, 4000)));
    assert.equal(
      got,
      cases.map(([, status]) => `${status} given back`),
    );
  });
});

test('nor after a head that did not arrive in time', async () => {
  await withProxy({}, async ({ proxy }) => {
    const head = 'POST /v1/messages HTTP/1.1\r\nHost: loc';
    assert.is(await isGivenBack(proxy.port, head, 4000), 'HTTP/1.1 400 given back');
  });
});

test('what leaves HTTP behind a running answer waits until the answer has left', async () => {
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
      const untilMs = Date.now() + 5000;
      const rest = () => text.slice(text.indexOf(end) + end.length);
      while ((!text.includes(end) || rest() === '') && Date.now() < untilMs)
        await new Promise((resolve) => setTimeout(resolve, 10));
      assert.match(text, /^HTTP\/1.1 200 /);
      assert.match(text, 'message_stop');
      assert.is(text.slice(0, text.indexOf(end)).match(/HTTP\/1.1/g)?.length, 1, bytes);
      assert.match(rest(), after, bytes);
      socket.destroy();
    }
  });
});

test('a client that leaves while its upgrade waits ends what runs', async () => {
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
