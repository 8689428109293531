/**
 * Requests that node would answer itself, or not at all: each passes the gate and gets our own
 * response.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openSocket,
  sendRaw,
} from '../../../fixtures/server/exchange.ts';

interface ErrorResponse {
  readonly status: number;
  readonly type: string;
  readonly head: string;
}

/** Returns the only response in `text`, which must be one of our errors with an id. */
function errorIn(text: string): ErrorResponse {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end);
  const body = JSON.parse(text.slice(end + 4)) as { type: string; error: { type: string } };
  assert.is(body.type, 'error');
  assert.match(head, /\r\nX-Request-ID: /);
  return { status: Number(head.slice(9, 12)), type: body.error.type, head };
}

const hostHeader = (port: number): string => `Host: 127.0.0.1:${port}\r\n`;

test('TRACE is refused everywhere and never forwarded', () =>
  withProxy({}, async ({ proxy: { port }, upstream }) => {
    for (const path of [
      '/',
      '/health',
      '/nope',
      '/ws',
      '/v1/messages',
      '/v1/files',
      '/v1/models',
      '/api/hello',
      '/v1beta/x',
    ]) {
      const error = errorIn(
        await sendRaw(
          port,
          `TRACE ${path} HTTP/1.1\r\n${hostHeader(port)}Connection: close\r\n\r\n`,
        ),
      );
      assert.is(error.status, 405, path);
      assert.match(error.head, /\r\nAllow: [A-Z, ]+\r\n/);
      assert.not.match(error.head, /TRACE/);
    }
    assert.is(upstream.requests.length, 0);
  }));

test('methods that we do not support are refused on our own paths', () =>
  withProxy({}, async ({ proxy: { port } }) => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'LINK', 'M-SEARCH', 'PURGE', 'PROPFIND']) {
      const { status } = await exchange(port, { path: '/stats', method });
      assert.is(status, 405, method);
    }
  }));

test('an Allow header names each method once', () =>
  withProxy({}, async ({ proxy: { port } }) => {
    for (const [path, method] of [
      ['/v1/models', 'POST'],
      ['/v1/models/x', 'PUT'],
      ['/api/hello', 'POST'],
      ['/health', 'POST'],
      ['/v1/messages', 'GET'],
      ['/config/reload', 'PUT'],
    ] as const) {
      const { headers, status } = await exchange(port, { path, method });
      assert.is(status, 405, path);
      const methods = headers.allow?.split(', ') ?? [];
      assert.ok(methods.length > 1, path);
      assert.is(new Set(methods).size, methods.length, `${path}: ${headers.allow}`);
    }
  }));

test('CONNECT gets an error while there are no tunnels', () =>
  withProxy({}, async ({ proxy: { port } }) => {
    const text = await sendRaw(
      port,
      `CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`,
    );
    assert.is(errorIn(text).status, 405);
  }));

test('an unknown Expect is refused, after the checks of the gate', () =>
  withProxy({}, async ({ proxy: { port, wsPort }, upstream }) => {
    for (const expect of ['anything', '200-ok', '100-continue-not', 'x=1']) {
      for (const listenerPort of [port, wsPort ?? port]) {
        const asks = (method: string, path: string, host: string) =>
          sendRaw(
            listenerPort,
            `${method} ${path} HTTP/1.1\r\n${host}Expect: ${expect}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
          );
        const error = errorIn(await asks('GET', '/health', hostHeader(listenerPort)));
        assert.is(error.status, 417);
        assert.is(error.type, 'expectation_failed');
        assert.is(
          errorIn(await asks('POST', '/v1/messages', hostHeader(listenerPort))).status,
          417,
        );
        assert.is(errorIn(await asks('GET', '/stats', 'Host: evil.example\r\n')).status, 403);
        const forwarded = await asks(
          'GET',
          '/stats',
          `${hostHeader(listenerPort)}X-Forwarded-For: 1.2.3.4\r\n`,
        );
        assert.is(errorIn(forwarded).status, 401);
      }
    }
    assert.is(upstream.requests.length, 0);
  }));

const BROKEN = [
  'ZZ\r\n',
  '-1\r\n',
  '5\r\n{"mod\r\nZZ\r\n',
  `2\n{}\r\n0\r\n\r\n`,
  '2\r\n{}xx0\r\n\r\n',
  '1;\0\r\n',
  'fffffffffffffffff\r\n',
];

test('a body with invalid chunks gets a 400, is recorded, and ends the connection', () =>
  withProxy({}, async (t) => {
    const { port } = t.proxy;
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\n${hostHeader(port)}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const [index, body] of BROKEN.entries()) {
      const error = errorIn(await sendRaw(port, head('/v1/messages') + body));
      assert.is(error.status, 400, JSON.stringify(body));
      assert.match(error.head, /\r\nConnection: close/i);
      assert.is(errorIn(await sendRaw(port, head('/ingest') + body)).status, 400);
      const rows = await t.rows(index + 1);
      assert.is(rows.length, index + 1);
      assert.equal([rows[index]?.outcome, rows[index]?.status], ['error', 400]);
    }
    // The same for a fault that follows a while after the head.
    const socket = await openSocket(port);
    let text = '';
    socket.on('data', (piece: Buffer) => void (text += piece.toString('latin1')));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${head('/v1/messages')}5\r\n{"mod\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write('ZZ\r\n');
    await closed;
    assert.is(errorIn(text).status, 400);
    assert.is(t.upstream.requests.length, 0);
    const { status } = await exchange(port, { body: json(MESSAGE) });
    assert.is(status, 200);
  }));

test.after(closeClients);
test.run();
