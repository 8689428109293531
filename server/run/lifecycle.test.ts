/** Reload under load, the drain, and the forced stop: nothing fails, nothing is lost. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { systemClock } from '../../engine/index.ts';
import { until } from '../../fixtures/wait.ts';
import { startTestProxy, withProxy } from '../../fixtures/proxy.ts';
import { stored } from '../../fixtures/ledger/temp-ledger.ts';
import { request as onRequest } from '../../fixtures/upstream.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
  readFullResponse,
} from '../../fixtures/server/exchange.ts';

const STREAM = json(MESSAGE, { stream: true });

test('a start does not load arktype, which takes longer than everything else', () => {
  const hook = `export const resolve = (name, context, next) => {
    if (name === 'arktype') throw new Error('loaded by ' + context.parentURL);
    return next(name, context);
  };`;
  const script = `import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));
    await import(${JSON.stringify(new URL('../index.js', import.meta.url).href)});`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', timeout: 60_000 },
  );
  assert.is(status, 0, stderr);
});

test('reloads under load fail no request', () =>
  withProxy({}, async (t) => {
    const stop = new AbortController();
    let sent = 0;
    const client = async () => {
      while (!stop.signal.aborted) {
        sent += 1;
        const body = sent % 2 === 0 ? json(MESSAGE) : STREAM;
        const response = await exchange(t.proxy.port, { body });
        assert.is(response.status, 200);
        assert.ok(response.whole);
        if (body === STREAM) assert.match(response.text, 'event: message_stop');
      }
    };
    const clients = Array.from({ length: 8 }, client);
    for (let n = 0; n < 25; n += 1) {
      t.configure(n % 2 === 0 ? 'streaming: { buffer_tokens: 3 }' : '');
      const response = await exchange(t.proxy.port, { path: '/config/reload', body: '' });
      assert.is(response.status, 200, response.text);
    }
    stop.abort();
    await Promise.all(clients);
    const rows = await t.rows(sent);
    assert.is(rows.length, sent, 'a row for each request');
    assert.equal([...new Set(rows.map((row) => row.outcome))], ['ok']);
    process.stdout.write(`  25 reloads during ${sent} requests, 0 failed\n`);
  }));

test('a reload of a faulty configuration changes nothing', () =>
  withProxy({}, async (t) => {
    t.configure('streaming: { buffer_tokens: [] }');
    const response = await exchange(t.proxy.port, { path: '/config/reload', body: '' });
    assert.is(response.status, 500);
    assert.match(response.text, 'CONFIG_002');
    assert.is((await exchange(t.proxy.port, { body: STREAM })).status, 200);
  }));

test('a run keeps the configuration with which it began', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'events', { count: 20, everyMs: 5 });
    const running = await openResponse(t.proxy.port, { body: STREAM });
    t.configure('streaming: { formats: [chunked] }');
    await t.proxy.reload();
    const { text, headers } = await readFullResponse(running);
    assert.match(headers['content-type'] ?? '', 'text/event-stream');
    assert.match(text, 'event: message_stop');
    const next = await exchange(t.proxy.port, { body: STREAM });
    assert.is(next.headers['content-type'], 'application/x-ndjson');
  }));

test('draining lets streams finish, refuses new requests and writes every row', async () => {
  const t = await startTestProxy();
  const { db, proxy } = t;
  const before = await exchange(proxy.port, { body: json(MESSAGE) });
  assert.is(before.status, 200);
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  t.upstream.script(
    undefined,
    onRequest(async (connection) => {
      const { wire, headLength } = connection.answer();
      const half = headLength + Math.floor((wire.length - headLength) / 2);
      await connection.write(wire.subarray(0, half));
      await finished;
      await connection.write(wire.subarray(half));
    }),
  );
  const socket = new WebSocket(`ws://127.0.0.1:${proxy.wsPort}/ws`);
  await once(socket, 'open');
  const running = await openResponse(proxy.port, { body: STREAM });
  const stopped = proxy.stop();
  const late = await exchange(proxy.port, { body: json(MESSAGE) });
  assert.is(late.status, 503);
  assert.is(late.headers['connection'], 'close');
  assert.match(late.headers['retry-after'] ?? '', /^\d+$/);
  const health = await exchange(proxy.port, { path: '/health', method: 'GET' });
  assert.match(health.text, 'shutting down');
  finish();
  const response = await readFullResponse(running);
  assert.ok(response.whole);
  assert.match(response.text, 'event: message_stop');
  await stopped;
  if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
  const rows = await stored(db);
  assert.equal(
    rows.map(({ outcome, status, endpoint }) => [outcome, status, endpoint]),
    [
      ['ok', 200, '/v1/messages'],
      ['ok', 200, '/v1/messages'],
      ['error', 503, '/v1/messages'],
    ],
  );
  await assertRefused(proxy.port);
  await assertRefused(proxy.wsPort);
  await t.close();
});

test('a second stop does not wait', async () => {
  // The drain's clock does not advance: only a second stop ends the drain.
  let stoppedMs: number | undefined;
  const clock = { ...systemClock, monotonicMs: () => stoppedMs ?? systemClock.monotonicMs() };
  const t = await startTestProxy({ clock });
  const { db, proxy } = t;
  t.upstream.script(undefined, 'stall-after-head');
  const running = await openResponse(proxy.port, { body: STREAM });
  const response = readFullResponse(running);
  stoppedMs = systemClock.monotonicMs();
  let isStopped = false;
  void proxy.stop().then(() => (isStopped = true));
  const health = await exchange(proxy.port, { path: '/health', method: 'GET' });
  assert.match(health.text, 'shutting down');
  assert.is(proxy.app.running.size, 1, 'the first request waits');
  void proxy.stop();
  await until('it has stopped', () => isStopped);
  const { text } = await response;
  assert.not.match(text, 'message_stop');
  const rows = await stored(db);
  assert.is(rows.length, 1);
  assert.not.equal(rows[0]?.outcome, 'ok');
  await t.close();
});

test('a failed start leaves nothing open', async () => {
  for (const env of [{ SVC_DB: 'mysql://localhost/x' }, { SVC_HOST: '0.0.0.0' }]) {
    const message = await startTestProxy({ env }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    assert.match(message, /postgres:|Listening on 0\.0\.0\.0/);
  }
});

async function assertRefused(port: number): Promise<void> {
  const outcome = await exchange(port, { path: '/health', method: 'GET' }).then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  );
  assert.is(outcome, 'ECONNREFUSED');
}

test.after(closeClients);
test.run();
