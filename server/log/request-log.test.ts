import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { logFile } from './open-log.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { sendOne, isEnd } from '../../fixtures/server/websocket.ts';

type Line = Readonly<Record<string, unknown>>;

/** Closes the proxy; returns the log lines except those about the proxy itself. */
async function linesOf(t: TestProxy): Promise<Line[]> {
  const file = logFile(dirname(t.db));
  await t.proxy.stop(true);
  const text = readFileSync(file, 'utf8');
  const lines = text.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => 'requestId' in line);
}

test('level info logs nothing for a success, and reason and place for a failure', () =>
  withProxy({ yaml: 'routing: { fallback: [chat] }' }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    t.upstream.script('/v1/messages', '529');
    t.upstream.script('/v1/chat/completions', '503');
    const { status, headers } = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.ok(status >= 500);
    await t.rows(2);
    const [line, ...more] = await linesOf(t);
    assert.equal(more, []);
    assert.is(line?.['level'], 'warning');
    assert.is(line?.['msg'], 'request failed');
    assert.is(line?.['requestId'], headers['x-svc-request-id']);
    assert.is(line?.['endpoint'], '/v1/messages');
    assert.is(line?.['model'], MESSAGE.model);
    assert.is(line?.['status'], status);
    const attempts = (line?.['attempts'] ?? []) as readonly Line[];
    assert.equal(
      attempts.map(({ provider, failure }) => [provider, failure]),
      [
        ['messages', 'status 529'],
        ['chat', 'Provider error: 503'],
      ],
    );
  }));

test('refused, broken off and abandoned requests are logged as well', () =>
  withProxy({}, async (t) => {
    await exchange(t.proxy.port, { body: '{"model": 1' });
    await t.rows(1);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'pack200' };
    await exchange(t.proxy.port, { body: json(MESSAGE), headers });
    t.upstream.script(undefined, 'reset-mid-body');
    await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    t.upstream.script(undefined, 'stall-before-head');
    const leave = new AbortController();
    const abandoned = exchange(t.proxy.port, { body: json(MESSAGE), signal: leave.signal });
    await t.upstream.nextRequest();
    leave.abort();
    await abandoned.catch(() => undefined);
    await t.rows(4);
    const texts = (await linesOf(t)).map(({ level, msg, error, reason }) => [
      level,
      msg,
      error,
      typeof reason,
    ]);
    assert.equal(texts, [
      ['warning', 'request failed', 'VALIDATION_001', 'string'],
      ['warning', 'request failed', 'unsupported_media_type', 'string'],
      ['warning', 'answer broke off', 'bad_gateway', 'string'],
      ['info', 'request cancelled', 'cancelled', 'string'],
    ]);
  }));

test('an internal error is logged with its cause and the place where it was thrown', () =>
  withProxy({}, async (t) => {
    const cause = new TypeError('a programming fault');
    Object.assign(t.proxy.services.router, {
      decide() {
        throw cause;
      },
    });
    const { status, text } = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(status, 500);
    assert.not.match(text, /at .*\.ts/);
    await t.rows(1);
    const [fault, failed] = await linesOf(t);
    assert.equal([fault?.['level'], fault?.['node']], ['error', 'route']);
    assert.match(JSON.stringify(fault?.['cause']), /"name":"TypeError".*"stack":/);
    assert.is(failed?.['msg'], 'request failed');
  }));

test('level debug logs a line per request with its stages and attempts, until it is turned off', () =>
  withProxy({ yaml: 'logging: { level: debug }' }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await t.rows(1);
    t.proxy.services.log.setDebug(false);
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await t.rows(2);
    const [line, ...more] = await linesOf(t);
    assert.equal(more, []);
    assert.is(line?.['level'], 'debug');
    assert.is(line?.['msg'], 'request');
    assert.is(line?.['status'], 200);
    const steps = Object.keys(line?.['stepsMs'] as object);
    assert.is(steps[0], 'parse');
    assert.ok(steps.includes('forward'));
    const [attempt] = (line?.['attempts'] ?? []) as readonly Line[];
    assert.is(attempt?.['status'], 200);
  }));

test('the whole trace is logged if enabled, as it is shown elsewhere', () =>
  withProxy({ yaml: 'advanced: { enable_trace_logs: true }' }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await t.rows(1);
    const printed = t.proxy.services.traces.last();
    const [line, ...more] = await linesOf(t);
    assert.equal(more, []);
    assert.equal([line?.['level'], line?.['msg']], ['info', 'trace']);
    assert.equal(line?.['trace'], JSON.parse(JSON.stringify(printed)));
  }));

const BODIES = 'logging: { include_request_body: true, include_response_body: true }';

test('bodies are logged if enabled, streamed, whole and over WebSocket, but never a key', () =>
  withProxy({ yaml: BODIES }, async (t) => {
    const content = 'what is messages-key?';
    const turn = { ...MESSAGE, messages: [{ role: 'user', content }] };
    const whole = await exchange(t.proxy.port, { body: json(turn) });
    const path = '/v1/chat/completions';
    const streamed = await exchange(t.proxy.port, { body: json(CHAT, { stream: true }), path });
    const reported = await sendOne(t, MESSAGE, { api_key: 'client-key' });
    await reported.until(isEnd);
    reported.socket.close();
    await t.rows(3);
    const lines = await linesOf(t);
    const texts = (what: string) =>
      lines.filter(({ msg }) => msg === what).map(({ text }) => String(text));
    assert.equal(texts('request body'), [
      json(turn).replace('messages-key', '[redacted]'),
      json(CHAT, { stream: true }),
      json(MESSAGE),
    ]);
    const answers = texts('response body');
    assert.equal(answers.slice(0, 2), [
      whole.text.replace('messages-key', '[redacted]'),
      streamed.text,
    ]);
    assert.is(answers.length, 3);
  }));

test('an encoded response is logged decoded, and binary data only by its type', async () => {
  const answer =
    '{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}';
  const encoded = gzipSync(answer);
  await withPlainUpstream({ yaml: BODIES }, async (t, upstream) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(encoded);
    });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const body = Buffer.from([0xff, 0xfe, 0x00]);
    await exchange(t.proxy.port, { path: '/v1/files', body, headers: { 'x-api-key': 'k' } });
    await t.rows(2);
    const lines = await linesOf(t);
    const texts = (what: string) =>
      lines.filter(({ msg }) => msg === what).map(({ text, sizeBytes }) => [text, sizeBytes]);
    assert.equal(texts('request body'), [
      [json(MESSAGE), json(MESSAGE).length],
      ['[not text]', 3],
    ]);
    assert.equal(texts('response body'), [
      [answer, answer.length],
      [answer, answer.length],
    ]);
  });
});

test('a reload changes what is logged, and masks the keys that it adds', () =>
  withProxy({}, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    t.configure(`${BODIES}\nproviders: { messages: { headers: { x-extra: brand-new-secret } } }`);
    await t.proxy.reload();
    const content = 'brand-new-secret';
    await exchange(t.proxy.port, {
      body: json({ ...MESSAGE, messages: [{ role: 'user', content }] }),
    });
    await t.rows(2);
    const lines = await linesOf(t);
    assert.equal(
      lines.map(({ msg }) => msg),
      ['request body', 'response body'],
    );
    assert.not.match(JSON.stringify(lines), /brand-new-secret/);
  }));

test.after(closeClients);
test.run();
