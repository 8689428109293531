/**
 * Hostile `CONNECT` requests and hostile bytes inside a tunnel: none reaches a provider, a private
 * address or another sender's credential.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HOSTS, connectHead, withForwardMode } from '../../../fixtures/forward-mode.ts';
import type { ForwardMode } from '../../../fixtures/forward-mode.ts';
import { MESSAGE, closeClients, json } from '../../../fixtures/server/exchange.ts';

const [ANTHROPIC] = HOSTS;
const HOST = `${ANTHROPIC}:443`;

const basic = (pair: string): string =>
  `Proxy-Authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`;

/** Request heads that must be refused, each with its status; `t.token` is a valid token. */
function forms(t: ForwardMode, listening: number): readonly (readonly [string, number, string])[] {
  const { token } = t;
  const own = basic(`svc:${token}`);
  const raw = (target: string, fields: string, version = '1.1'): string =>
    `CONNECT ${target} HTTP/${version}\r\n${fields}\r\n`;
  const to = (target: string, more = ''): string => connectHead(target, token, more);
  return [
    // Credentials.
    ['no token', 407, connectHead(HOST, undefined)],
    ['a token that is not ours', 407, connectHead(HOST, 'svc_wrong')],
    ['an empty token', 407, connectHead(HOST, '')],
    ['half of a token', 407, connectHead(HOST, token.slice(0, 20))],
    ['a longer token', 407, connectHead(HOST, `${token}x`)],
    ['the token as the user', 407, raw(HOST, `Host: ${HOST}\r\n${basic(token)}`)],
    [
      'the token as a bearer',
      407,
      raw(HOST, `Host: ${HOST}\r\nProxy-Authorization: Bearer ${token}\r\n`),
    ],
    ['the token twice', 407, to(HOST, own)],
    [
      'the token in another field',
      407,
      raw(HOST, `Host: ${HOST}\r\nAuthorization: ${own.slice(21)}`),
    ],
    [
      'a token that is not base64',
      407,
      raw(HOST, `Host: ${HOST}\r\nProxy-Authorization: Basic %%%\r\n`),
    ],
    ['a page of another site', 403, to(HOST, 'Origin: https://evil.example\r\n')],
    ['a page of ours', 403, to(HOST, `Origin: http://127.0.0.1:${t.port}\r\n`)],
    ['a browser', 403, to(HOST, 'Sec-Fetch-Site: none\r\n')],
    ['a browser with hints', 403, to(HOST, 'Sec-CH-UA: "x"\r\n')],
    ['a browser with cookies', 403, to(HOST, 'Cookie: a=b\r\n')],
    ['a page with a referrer', 403, to(HOST, 'Referer: https://evil.example/\r\n')],
    ['one that speaks for others', 403, to(HOST, 'X-Forwarded-For: 127.0.0.1\r\n')],
    ['one behind another proxy', 403, to(HOST, 'Via: 1.1 other\r\n')],
    ['too many fields', 431, to(HOST, 'X-A: b\r\n'.repeat(220))],
    // Form of the request.
    ['HTTP/1.0 without a token', 407, raw(HOST, '', '1.0')],
    ['HTTP/1.0 and another Host', 400, raw(HOST, `Host: evil.example:443\r\n${own}`, '1.0')],
    ['HTTP/1.0 to loopback', 403, raw('127.0.0.1:443', own, '1.0')],
    ['a body by length', 400, to(HOST, 'Content-Length: 5\r\n')],
    ['a body in chunks', 400, to(HOST, 'Transfer-Encoding: chunked\r\n')],
    ['no Host', 400, raw(HOST, own)],
    ['two Hosts', 400, to(HOST, `Host: ${HOST}\r\n`)],
    ['another Host', 400, raw(HOST, `Host: evil.example:443\r\n${own}`)],
    ['another port in the Host', 400, raw(HOST, `Host: ${ANTHROPIC}:8443\r\n${own}`)],
    // Destination.
    ['no port', 400, to(ANTHROPIC)],
    ['port 0', 400, to(`${ANTHROPIC}:0`)],
    ['a port too high', 400, to(`${ANTHROPIC}:65536`)],
    ['port 80', 403, to(`${ANTHROPIC}:80`)],
    ['port 22', 403, to('example.test:22')],
    ['port 25', 403, to('example.test:25')],
    ['a dot at the end', 400, to(`${ANTHROPIC}.:443`)],
    ['a user in the host', 400, to(`svc@${HOST}`)],
    ['a URL', 400, to(`https://${HOST}/`)],
    ['a path', 400, to(`${HOST}/x`)],
    ['two hosts', 400, to(`evil.example,${HOST}`)],
    ['loopback', 403, to('127.0.0.1:443')],
    ['loopback by another address', 403, to('127.8.9.10:443')],
    ['loopback by name', 403, to('localhost:443')],
    ['loopback below localhost', 403, to('a.localhost:443')],
    ['our own port', 403, to(`127.0.0.1:${t.port}`)],
    ['a port that listens here', 403, to(`127.0.0.1:${listening}`)],
    ['loopback, short', 400, to('127.1:443')],
    ['loopback as a number', 400, to('2130706433:443')],
    ['loopback in hexadecimal', 400, to('0x7f000001:443')],
    ['loopback in octal', 400, to('0177.0.0.1:443')],
    ['the unspecified address', 403, to('0.0.0.0:443')],
    ['a private address', 403, to('10.0.0.1:443')],
    ['another private address', 403, to('192.168.1.1:443')],
    ['the metadata of a cloud', 403, to('169.254.169.254:443')],
    ['IPv6 loopback', 403, to('[::1]:443')],
    ['IPv6 unspecified', 403, to('[::]:443')],
    ['IPv6, mapped loopback', 403, to('[::ffff:127.0.0.1]:443')],
    ['IPv6, mapped in hexadecimal', 403, to('[::ffff:7f00:1]:443')],
    ['IPv6, compatible loopback', 403, to('[::127.0.0.1]:443')],
    ['IPv6, translated loopback', 403, to('[64:ff9b::7f00:1]:443')],
    ['IPv6, 6to4 of a private address', 403, to('[2002:a00:1::]:443')],
    ['IPv6, link-local', 403, to('[fe80::1]:443')],
    ['IPv6, unique local', 403, to('[fd00::1]:443')],
    ['IPv6 with a zone', 400, to('[fe80::1%25lo]:443')],
    ['IPv6 without brackets', 400, to('::1:443')],
  ];
}

test('hostile CONNECT requests are refused and open no connection', () =>
  withForwardMode({}, async (t) => {
    let reached = 0;
    const listener = createServer(() => (reached += 1));
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    const { port } = listener.address() as AddressInfo;
    const all = forms(t, port);
    assert.ok(all.length >= 40);
    for (const [what, expected, head] of all) {
      const { socket, status, head: answered } = await t.connect(head);
      assert.is(status, expected, `${what}: ${answered}`);
      if (status === 407) assert.match(answered, /\r\nProxy-Authenticate: Basic /);
      assert.not.match(answered, t.token, what);
      socket.destroy();
    }
    assert.is(reached, 0);
    assert.equal(t.network.tunnels, []);
    assert.equal(t.upstream.connections, []);
    // A valid request is still accepted.
    (await t.open(ANTHROPIC)).destroy();
    listener.close();
  }));

test('bytes after a refused CONNECT on its connection are never read', () =>
  withForwardMode({}, async (t) => {
    const next = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}`;
    const { socket } = await t.connect(connectHead(HOST, undefined) + next);
    const [rest] = (await Promise.race([
      once(socket.resume(), 'data'),
      once(socket, 'close').then(() => [Buffer.alloc(0)]),
    ])) as [Buffer];
    assert.not.match(rest.toString(), 'HTTP/1.1');
    assert.is(t.upstream.requests.length, 0);
  }));

test('bytes sent ahead of the CONNECT response belong to the tunnel and are not a request', () =>
  withForwardMode({}, async (t) => {
    const next = 'GET /stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    const { socket, status } = await t.connect(connectHead(HOST, t.token) + next);
    assert.is(status, 200);
    // The bytes are not TLS, so the connection is closed.
    await once(socket.resume(), 'close');
    assert.is(t.upstream.requests.length, 0);
  }));

/**
 * Sends raw bytes inside an intercepted connection; returns what arrives until it closes or goes
 * quiet.
 */
async function inside(t: ForwardMode, bytes: string): Promise<string> {
  const socket = await t.open(ANTHROPIC);
  socket.write(bytes);
  let received = '';
  socket.on('data', (piece: Buffer) => (received += piece.toString()));
  socket.on('error', () => undefined);
  while (!received.includes('\r\n\r\n') && !socket.destroyed)
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.destroy();
  return received;
}

test('an intercepted connection leads to no other host and to none of our own paths', () =>
  withForwardMode({}, async (t) => {
    const body = json(MESSAGE);
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const post = (fields: string, target = '/v1/messages'): string =>
      `POST ${target} HTTP/1.1\r\n${fields}Content-Type: application/json\r\n${length}\r\n${body}`;
    const own = `Host: ${ANTHROPIC}\r\n`;
    const cases: readonly (readonly [string, RegExp, string])[] = [
      ['another Host', /^HTTP\/1\.1 400/, post('Host: api.openai.com\r\n')],
      ['the Host of this proxy', /^HTTP\/1\.1 400/, post(`Host: 127.0.0.1:${t.port}\r\n`)],
      ['two Hosts', /^HTTP\/1\.1 400/, post(`${own}Host: evil.example\r\n`)],
      ['no Host', /^HTTP\/1\.1 400/, post('')],
      ['a port that it is not', /^HTTP\/1\.1 400/, post(`Host: ${ANTHROPIC}:8443\r\n`)],
      ['an absolute target', /^HTTP\/1\.1 400/, post(own, 'http://api.openai.com/v1/messages')],
      ['a tunnel in the tunnel', /^HTTP\/1\.1 [45]/, connectHead('example.test:443', t.token)],
      ['a page of another site', /^HTTP\/1\.1 401/, post(`${own}Origin: https://evil.example\r\n`)],
      ['two lengths', /^HTTP\/1\.1 400/, post(`${own}Content-Length: 1\r\n`)],
      ['length and chunks', /^HTTP\/1\.1 400/, post(`${own}Transfer-Encoding: chunked\r\n`)],
      [
        'a proxy key on a path of the host',
        /^HTTP\/1\.1 401/,
        `GET /v1/models HTTP/1.1\r\n${own}x-api-key: svc_unknown\r\n\r\n`,
      ],
      [
        'a proxy key in its target',
        /^HTTP\/1\.1 4/,
        `GET /x?key=svc_${'a'.repeat(43)} HTTP/1.1\r\n${own}\r\n`,
      ],
    ];
    for (const [what, expected, bytes] of cases)
      assert.match(await inside(t, bytes), expected, what);
    assert.is(t.upstream.requests.length, 0);
  }));

test('the proxy token is never forwarded, whatever header a client repeats it in', () =>
  withForwardMode({}, async (t) => {
    const fields = `Host: ${ANTHROPIC}\r\n${basic(`svc:${t.token}`)}X-Svc-Key: ${t.token}\r\n`;
    await inside(t, `GET /api/x HTTP/1.1\r\n${fields}\r\n`);
    for (const { headerBytes } of t.upstream.requests) {
      assert.not.match(headerBytes.toString(), t.token);
      assert.not.match(headerBytes.toString(), 'roxy-');
    }
  }));

test('of a thousand tunnels only the allowed number opens, and the proxy keeps serving', () =>
  withForwardMode({ yaml: 'forward_proxy: { max_tunnels: 100 }' }, async (t) => {
    const counts = new Map<number, number>();
    const open: Socket[] = [];
    for (let n = 0; n < 1000; n += 1) {
      const { socket, status } = await t.connect(connectHead(HOST, t.token));
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status === 200) open.push(socket);
      else socket.destroy();
    }
    assert.equal(
      [...counts].toSorted(([a], [b]) => a - b),
      [
        [200, 100],
        [503, 900],
      ],
    );
    // Half-open connections close, which frees their slots.
    for (const socket of open) socket.end();
    await Promise.all(
      open.filter((socket) => !socket.destroyed).map((socket) => once(socket.resume(), 'close')),
    );
    (await t.open(ANTHROPIC)).destroy();
  }));

test.after(closeClients);
test.run();
