/** `compression.http100_keepalive` on raw sockets: the interim answer, and where there must be none. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { openSocket } from '../../fixtures/server/exchange.ts';

const LARGE = JSON.stringify({
  model: 'claude-fixture-1',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'A line of some length. '.repeat(2000) }],
});
const SMALL = LARGE.replace('A line of some length. '.repeat(1900), '');
const ON = { SVC_HTTP100_KEEPALIVE: '1' };

/** Everything that comes back for one request, in `HTTP/<version>`. */
async function answerTo(port: number, body: string, version = '1.1', fields = ''): Promise<string> {
  const socket = await openSocket(port);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.write(
    `POST /v1/messages HTTP/${version}\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await once(socket, 'close', { signal: AbortSignal.timeout(8000) });
  return Buffer.concat(pieces).toString('latin1');
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

test('a large request gets 100 Continue once that work begins', async () => {
  await withProxy({ env: ON }, async ({ proxy }) => {
    const answer = await answerTo(proxy.port, LARGE);
    assert.ok(answer.startsWith(`${CONTINUE}HTTP/1.1 200 `), answer.slice(0, 200));
    assert.is(answer.split('100 Continue').length, 2);
  });
});

test('small ones, untouched ones and HTTP/1.0 are not', async () => {
  await withProxy({ env: ON }, async ({ proxy }) => {
    for (const answer of [
      await answerTo(proxy.port, SMALL),
      await answerTo(proxy.port, LARGE, '1.0'),
      await answerTo(proxy.port, LARGE, '1.1', 'X-Svc-Bypass: 1\r\n'),
    ]) {
      assert.match(answer, /^HTTP\/1\.[01] 200 /);
    }
  });
});

test('by default, and with compression off, there is no interim answer', async () => {
  for (const env of [{}, { ...ON, SVC_COMPACT: '0' }]) {
    await withProxy({ env }, async ({ proxy }) => {
      assert.match(await answerTo(proxy.port, LARGE), /^HTTP\/1\.1 200 /);
    });
  }
});

test.run();
