/** Requests passed to an intercepted host that is unreachable. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import type { SvcError } from '../../engine/index.ts';
import { createPass } from './pass.ts';

test('a host that cannot be resolved gives a 502, and is not an internal error', async () => {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  const pass = createPass((_way, done) => done(unknown, null), systemClock);
  let error: SvcError | undefined;
  const server = createServer((request, response) => {
    pass.request(request, response, 'gone.test', {
      failed: (found) => {
        error = found;
        response.writeHead(502).end();
      },
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/api/settings`)).text();
  assert.is(error?.kind, 'bad_gateway');
  assert.match(error!.message, 'gone.test cannot be reached');
  server.close();
});

/** Returns what a client gets for a response of these bytes: the status, or the error. */
async function responseTo(bytes: string): Promise<string> {
  const host = createTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  const far = (host.address() as AddressInfo).port;
  const pass = createPass((_way, done) => {
    const socket = connect(far, '127.0.0.1');
    socket.once('connect', () => done(null, socket));
  }, systemClock);
  const server = createServer((request, response) => {
    const failed = ({ kind }: SvcError): void => void response.writeHead(502).end(kind);
    pass.request(request, response, 'odd.test', { failed });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write('GET /x HTTP/1.1\r\nHost: odd.test\r\nConnection: close\r\n\r\n');
  let text = '';
  for await (const piece of socket) text += String(piece);
  server.close();
  host.close();
  return text;
}

const WHOLE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell';

test('forwards early hints with several links, and drops ones that cannot be written', async () => {
  const hint = (link: string): string => `HTTP/1.1 103 Early Hints\r\n${link}\r\n${WHOLE}`;
  const two = await responseTo(hint('Link: </a>; rel=preload\r\nLink: </b>; rel=preload\r\n'));
  assert.match(two, /103 Early Hints[^]*<\/a>[^]*<\/b>[^]*well$/);
  assert.match(await responseTo(hint('Link: garbage\r\n')), /^HTTP\/1\.1 200 OK[^]*well$/);
});

test('a response head that cannot be forwarded gives a 502, and the proxy keeps running', async () => {
  for (const line of ['HTTP/1.1 099 Odd', 'HTTP/1.1 200 O\u0001K'])
    assert.match(
      await responseTo(WHOLE.replace('HTTP/1.1 200 OK', line)),
      /502[^]*bad_gateway/,
      line,
    );
});

test.run();
