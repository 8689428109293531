/** `compression.http100_keepalive`: the interim response, and clients that must not get one. */
import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { openSocket } from '../../../fixtures/server/exchange.ts';
import { MessagesAdapter } from '../../client/index.ts';

const LARGE = JSON.stringify({
  model: 'claude-fixture-1',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'A line of some length. '.repeat(2000) }],
});
const SMALL = LARGE.replace('A line of some length. '.repeat(1900), '');
const ON = { SVC_HTTP100_KEEPALIVE: '1' };

/** Returns everything that comes back for one request in `HTTP/<version>`. */
async function answerTo(port: number, body: string, version = '1.1', fields = ''): Promise<string> {
  const socket = await openSocket(port);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.write(
    `POST /v1/messages HTTP/${version}\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await once(socket, 'close', { signal: AbortSignal.timeout(120_000) });
  return Buffer.concat(pieces).toString('latin1');
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const EXPECT = 'Expect: 100-continue\r\n';

/** Counts the interim responses before the final one. */
function interim(answer: string): number {
  const [before] = answer.split(/HTTP\/1\.[01] 200 /);
  assert.ok(before !== undefined && before.length < answer.length, answer.slice(0, 200));
  assert.is(before.replaceAll(CONTINUE, ''), '');
  return before.length / CONTINUE.length;
}

test('a client that expects it gets a second 100 Continue before long work', async () => {
  await withProxy({ env: ON }, async ({ proxy }) => {
    assert.is(interim(await answerTo(proxy.port, LARGE, '1.1', EXPECT)), 2);
  });
});

test('no second 100 Continue before short work or none, and none for HTTP/1.0', async () => {
  await withProxy({ env: ON }, async ({ proxy }) => {
    assert.is(interim(await answerTo(proxy.port, SMALL, '1.1', EXPECT)), 1);
    const bypassed = await answerTo(proxy.port, LARGE, '1.1', `${EXPECT}X-Svc-Bypass: 1\r\n`);
    assert.is(interim(bypassed), 1);
    assert.is(interim(await answerTo(proxy.port, LARGE, '1.0', EXPECT)), 0);
  });
});

test('by default, and with compression off, only the expected 100 Continue is sent', async () => {
  for (const env of [{}, { ...ON, SVC_COMPACT: '0' }]) {
    await withProxy({ env }, async ({ proxy }) => {
      assert.is(interim(await answerTo(proxy.port, LARGE, '1.1', EXPECT)), 1);
    });
  }
});

test('clients that expect no 100 Continue, such as fetch and the SDKs, get none', async () => {
  await withProxy({ env: ON }, async (t) => {
    assert.is(interim(await answerTo(t.proxy.port, LARGE)), 0);
    const headers = { 'content-type': 'application/json', 'x-api-key': 'mine' };
    const init = { method: 'POST', headers, body: LARGE };
    const response = await fetch(`${t.proxy.url}/v1/messages`, init);
    assert.is(response.status, 200, await response.text());
    const options = { apiKey: 'mine', timeout: 80_000, maxRetries: 0 };
    const messages = new Anthropic({ baseURL: t.proxy.url, ...options });
    const content = 'A line of some length. '.repeat(2000);
    const ask = { max_tokens: 10, messages: [{ role: 'user' as const, content }] };
    const whole = await messages.messages.create({ model: 'claude-fixture-1', ...ask });
    assert.is(whole.type, 'message');
    const chat = new OpenAI({ baseURL: `${t.proxy.url}/v1`, ...options });
    const completion = await chat.chat.completions.create({ model: 'gpt-fixture-1', ...ask });
    assert.is(completion.choices.length, 1);
    const adapter = new MessagesAdapter({ baseUrl: t.proxy.url, apiKey: 'mine' });
    const called = await adapter.call({ model: 'claude-fixture-1', ...ask });
    assert.ok(called);
  });
});

test.run();
