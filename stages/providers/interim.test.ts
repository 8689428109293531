/** Interim responses that were not requested. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createTurn } from '../../engine/index.ts';
import { createAgent, createUpstream } from './undici-upstream.ts';

const GO_ON = 'HTTP/1.1 100 Continue\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 14\r\nX-A: 1\r\n\r\nHTTP/1.1 100 x';

const ANSWERS: readonly string[] = [
  FINAL,
  GO_ON + FINAL,
  GO_ON + GO_ON + FINAL,
  `HTTP/1.1 100\r\n\r\n${FINAL}`,
  `HTTP/1.1 100 Continue\r\nX-B: 2\r\n\r\n${FINAL}`,
  `HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${GO_ON}HTTP/1.1 102 Processing\r\n\r\n${FINAL}`,
];

test('every interim response is skipped at any split, without closing the connection', async () => {
  let bytes = '';
  let size = Infinity;
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('error', () => undefined);
    const send = (at: number): void => {
      socket.write(bytes.slice(at, at + size));
      if (at + size < bytes.length) setImmediate(send, at + size);
    };
    socket.on('data', (bytesReceived: Buffer) => {
      if (bytesReceived.toString().endsWith('{}')) send(0);
    });
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const upstream = createUpstream(createAgent(), createTurn());
  for (const answer of ANSWERS) {
    for (const each of [Infinity, 1, 7, GO_ON.length]) {
      bytes = answer;
      size = each;
      const response = await upstream.send({
        origin: `http://127.0.0.1:${port}`,
        path: '/',
        method: 'POST',
        headers: [],
        body: Buffer.from('{}'),
        headTimeoutMs: 5000,
        idleTimeoutMs: 5000,
        signal: createCanceller().signal,
      });
      assert.is(response.status, 200, answer);
      assert.equal(response.headers, ['Content-Length', '14', 'X-A', '1']);
      const pieces: Buffer[] = [];
      for await (const piece of response.body.bytes()) pieces.push(piece);
      assert.is(Buffer.concat(pieces).toString(), 'HTTP/1.1 100 x', answer);
    }
  }
  // The pool may open a second connection before the first is free; refused responses would cost
  // one each.
  assert.ok(connections <= 2, `${connections} connections`);
  await upstream.close();
  server.close();
});

test.run();
