/** Malformed requests, refused upgrades, and what a web page may read of refusals. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { withProxy } from '../../../fixtures/proxy.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openSocket,
  sendRaw,
} from '../../../fixtures/server/exchange.ts';

const RAW: readonly (readonly [name: string, bytes: string, status: number])[] = [
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['no Host', 'POST /v1/messages HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', 400],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n', 400],
  [
    'both framings',
    'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'two lengths',
    'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    400,
  ],
  [
    'a negative length',
    'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: -2\r\n\r\n{}',
    400,
  ],
  [
    'gzip framing',
    'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: localhost\r\n\r\n', 400],
  [
    'another host in the target',
    'GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    403,
  ],
  [
    'a huge head',
    `GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: ${'f'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
];

test('bytes that are not a valid request are refused with an id', () =>
  withProxy({}, async (t) => {
    for (const [name, bytes, status] of RAW) {
      for (const port of [t.proxy.port, t.proxy.wsPort]) {
        const answer = await sendRaw(port, bytes);
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), name);
        assert.match(answer, /^x-request-id: /im, name);
        assert.match(answer, /^connection: close/im, name);
      }
    }
    assert.is(t.upstream.requests.length, 0);
  }));

/** Bytes sent earlier on the connection: none, or a request that has been answered completely. */
const BEFORE = ['', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'];

test('a fault in the middle of a response adds nothing to it', async () => {
  for (const before of BEFORE) {
    await withProxy({}, async (t) => {
      t.upstream.script(undefined, 'events', { count: 2000, everyMs: 10 });
      const body = json(MESSAGE, { stream: true });
      const socket = await openSocket(t.proxy.port);
      let received = '';
      socket.on('data', (piece: Buffer) => (received += piece.toString()));
      socket.write(
        `${before}POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      while (!received.includes('event:')) await once(socket, 'data');
      socket.write('this is no HTTP\r\n\r\n');
      if (!socket.closed) await once(socket, 'close');
      assert.not.match(received, 'not valid HTTP', before);
      assert.match(received, /^HTTP\/1.1 200 /, before);
      assert.is((await t.rows(1)).at(-1)?.outcome, 'cancelled', before);
    });
  }
});

test('an upgrade to an unknown protocol is ignored, and the request is served', () =>
  withProxy({}, async (t) => {
    const body = json(MESSAGE);
    const head = (more: string) =>
      `POST /v1/messages?beta=true HTTP/1.1\r\nHost: localhost\r\n${more}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const whole = await sendRaw(t.proxy.port, head(upgrade) + body);
    assert.match(whole, /^HTTP\/1.1 200 /);
    const [request] = t.upstream.requests;
    assert.is(request?.body.toString(), body);
    for (const name of ['upgrade', 'http2-settings']) assert.is(request?.header(name), undefined);
    const socket = await openSocket(t.proxy.port);
    socket.write(head(upgrade));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(body.slice(0, 9));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(body.slice(9));
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /, 'in pieces');
    socket.destroy();
    const health = await sendRaw(
      t.proxy.wsPort,
      'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: TLS/1.2\r\n\r\n',
    );
    assert.match(health, /^HTTP\/1.1 200 /);
  }));

/** Returns the status of a WebSocket upgrade. */
async function upgradeStatus(port: number, path: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
  const outcome = await new Promise<{ status: number; fields: Record<string, unknown> }>(
    (resolve) => {
      socket.on('unexpected-response', (_request, response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, fields: response.headers });
      });
      socket.on('upgrade', (response) => resolve({ status: 101, fields: response.headers }));
      socket.on('error', () => undefined);
    },
  );
  socket.terminate();
  assert.type(outcome.fields['x-request-id'], 'string');
  return outcome;
}

test('an invalid handshake is refused with an id and what would be accepted', () =>
  withProxy({}, async (t) => {
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const handshake = (method: string, more: string) =>
      `${method} /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;
    const cases = [
      ['GET', `${key}Sec-WebSocket-Version: 12\r\n`, 426, /\r\nSec-WebSocket-Version: 13, 8\r\n/],
      ['GET', key, 426, /\r\nUpgrade: websocket\r\n/],
      [
        'GET',
        'Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n',
        400,
        /Sec-WebSocket-Key/,
      ],
      [
        'GET',
        `${key}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: a,,b\r\n`,
        400,
        /Protocol/,
      ],
      [
        'POST',
        `${key}Sec-WebSocket-Version: 13\r\nContent-Length: 0\r\n`,
        405,
        /\r\nAllow: GET\r\n/,
      ],
    ] as const;
    for (const port of [t.proxy.port, t.proxy.wsPort])
      for (const [method, more, status, holds] of cases) {
        const refusal = await sendRaw(port, handshake(method, more));
        assert.match(refusal, new RegExp(`^HTTP/1.1 ${status} `), more);
        assert.match(refusal, holds);
        assert.match(refusal, /\r\nX-Request-ID: req_/);
        assert.match(refusal, /\{"type":"error","error":\{/);
      }
  }));

test('refuses an upgrade on a wrong path, from a foreign page or over the rate limit', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 6 }' }, async (t) => {
    for (const port of [t.proxy.port, t.proxy.wsPort]) {
      const foreign = await upgradeStatus(port, '/ws', { origin: 'https://evil.example' });
      assert.is(foreign.status, 403);
      assert.is(foreign.fields['access-control-allow-origin'], '*');
      assert.is((await upgradeStatus(port, '/ws', { host: 'evil.example' })).status, 403);
      assert.is((await upgradeStatus(port, '/elsewhere')).status, 404);
      const overHttp = await upgradeStatus(port, '/v1/responses');
      assert.is(overHttp.status, 426);
      assert.is(overHttp.fields['upgrade'], 'HTTP/1.1');
      assert.is((await upgradeStatus(port, '/ws')).status, 101);
    }
    const limited = await upgradeStatus(t.proxy.port, '/ws');
    assert.is(limited.status, 429);
    assert.is(limited.fields['x-ratelimit-limit'], '6');
    assert.match(String(limited.fields['retry-after']), /^[1-9]/);
  }));

test('a page that may read responses may also read refusals', () =>
  withProxy({}, async (t) => {
    const headers = { origin: 'https://page.example' };
    const response = await exchange(t.proxy.port, { body: json(MESSAGE), headers });
    assert.is(response.status, 401);
    assert.is(response.headers['access-control-allow-origin'], '*');
    const missing = await exchange(t.proxy.port, { path: '/health', method: 'PUT', headers });
    assert.ok(missing.status >= 400);
    assert.is(missing.headers['access-control-allow-origin'], '*');
  }));

test.after(closeClients);
test.run();
