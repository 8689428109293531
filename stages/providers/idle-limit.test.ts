/** Silence inside a response body, over real sockets. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCanceller, createTurn, isSvcError } from '../../engine/index.ts';
import { createAgent, createUpstream } from './undici-upstream.ts';

type Reader = ReadableStreamDefaultReader<Buffer>;

const IDLE_MS = 400;

/** Passes the body of the response that `answer` sends to `use`. */
async function withBody(
  answer: (response: ServerResponse) => void,
  use: (body: Reader) => Promise<void>,
): Promise<void> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = createUpstream(createAgent(), createTurn());
  try {
    const { port } = server.address() as AddressInfo;
    const { body } = await upstream.send({
      origin: `http://127.0.0.1:${port}`,
      path: '/',
      method: 'GET',
      headers: [],
      body: undefined,
      headTimeoutMs: 10_000,
      idleTimeoutMs: IDLE_MS,
      signal: createCanceller().signal,
    });
    await use(body.bytes().getReader());
  } finally {
    await upstream.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function readAll(body: Reader): Promise<number> {
  let bytes = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) return bytes;
    bytes += value.length;
  }
}

async function sendSlowly(response: ServerResponse, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    response.write('x');
    await sleep(IDLE_MS / 4);
  }
  response.end('x');
}

for (const start of ['', 'the first words']) {
  test(`a provider that falls silent after "${start}" is given up`, () =>
    withBody(
      (response) => {
        response.flushHeaders();
        if (start !== '') response.write(start);
      },
      async (body) => {
        const startedMs = performance.now();
        const error: unknown = await readAll(body).catch((thrown: unknown) => thrown);
        assert.ok(isSvcError(error));
        assert.equal([error.kind, error.code], ['gateway_timeout', 'TIMEOUT_001']);
        assert.ok(performance.now() - startedMs >= IDLE_MS * 0.9);
      },
    ));
}

test('a slow answer is waited for as long as data keeps arriving', () =>
  withBody(
    (response) => void sendSlowly(response, 8),
    async (body) => assert.is(await readAll(body), 9),
  ));

test('no timer is left once an answer is complete', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withBody(
    (response) => void response.end('x'),
    async (body) => {
      assert.is(await readAll(body), 1);
      assert.is(timers(), before);
    },
  );
});

test('a reader may pause for longer than the idle limit', () => {
  const bytes = 4 << 20;
  return withBody(
    (response) => void response.end(Buffer.alloc(bytes)),
    async (body) => {
      await sleep(IDLE_MS * 2);
      const first = await body.read();
      await sleep(IDLE_MS * 2);
      assert.is((first.value?.length ?? 0) + (await readAll(body)), bytes);
    },
  );
});

test('the idle limit applies again once a reader resumes', () =>
  withBody(
    (response) => void response.write(Buffer.alloc(1 << 20)),
    async (body) => {
      await body.read();
      await sleep(IDLE_MS * 2);
      const error: unknown = await readAll(body).catch((thrown: unknown) => thrown);
      assert.ok(isSvcError(error));
      assert.is(error.kind, 'gateway_timeout');
    },
  ));

test.run();
