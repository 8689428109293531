import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../fixtures/proxy.ts';
import { MAX_PIPELINED } from './pipelining.ts';

const REQUESTS = 60;

test('of what a connection sends ahead sixteen requests are under way, and all are answered in order', async () => {
  let underWay = 0;
  let most = 0;
  const provider = createServer((request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    setTimeout(() => {
      underWay -= 1;
      response.setHeader('Content-Type', 'application/json');
      response.end(Buffer.concat(pieces));
    }, 20);
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  const rig = await startTestProxy({
    env: { MSGPROV_BASE_URL: `http://127.0.0.1:${port}` },
  });
  const socket = connect(rig.proxy.port, '127.0.0.1');
  try {
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    for (let n = 0; n < REQUESTS; n += 1) {
      const body = JSON.stringify({
        model: 'm',
        max_tokens: 1,
        messages: [{ role: 'user', content: `number ${n}.` }],
      });
      const last = n === REQUESTS - 1 ? 'Connection: close\r\n' : '';
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${rig.proxy.port}\r\nx-api-key: k\r\n` +
          `anthropic-version: 2023-06-01\r\n${last}Content-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    await once(socket, 'end');
    const numbers = [...text.matchAll(/number (\d+)\./g)].map(([, n]) => Number(n));
    assert.equal(
      numbers,
      Array.from({ length: REQUESTS }, (_, n) => n),
    );
    assert.is(most, MAX_PIPELINED);
  } finally {
    socket.destroy();
    await rig.close();
    provider.close();
  }
});

test.run();
