/**
 * Captures from outside: what a proxy records of its traffic, what it never records, and what it
 * survives.
 */
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { readCaptures } from '../../stages/captures/decode.ts';
import { createCaptureWriter } from '../../stages/captures/writer.ts';
import { captureFiles, captureFolder } from '../../stages/captures/files.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { headerValue } from '../../stages/model/headers.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const ON = 'capture: { enabled: true }\n';
const folderOf = (t: TestProxy): string => captureFolder(dirname(t.db));

/** Returns the records once the ledger has `count` rows and every record is on disk. */
async function recordsOf(t: TestProxy, count: number): Promise<readonly CaptureRecord[]> {
  await t.rows(count);
  await t.proxy.services.captures.flush();
  const { records, faults } = readCaptures(folderOf(t));
  assert.equal(faults, []);
  return records;
}

const textOf = (bytes: Uint8Array | null | undefined): string =>
  Buffer.from(bytes ?? new Uint8Array()).toString();

function traceOf(t: TestProxy, id: string) {
  return t.proxy.services.traces.get(id);
}

test('nothing is recorded unless a setting or a request asks for it', () =>
  withProxy({}, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const [row] = await t.rows(1);
    await t.proxy.services.captures.flush();
    assert.not(existsSync(folderOf(t)));
    assert.not('capture' in traceOf(t, row!.id)!);
  }));

test('a record holds the request, its exchanges, the response and the row, under the id of the row', () =>
  withProxy({ yaml: ON }, async (t) => {
    const answers = [
      await exchange(t.proxy.port, { body: json(MESSAGE) }),
      await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) }),
    ];
    const rows = await t.rows(2);
    const records = await recordsOf(t, 2);
    assert.equal(records.map(({ id }) => id).toSorted(), rows.map(({ id }) => id).toSorted());
    for (const [index, record] of records.entries()) {
      const { request, attempts, answer, row } = record;
      const sent = t.upstream.requests[index]!;
      assert.is(request.target, '/v1/messages');
      assert.is(
        textOf(request.body),
        index === 0 ? json(MESSAGE) : json(MESSAGE, { stream: true }),
      );
      assert.is(attempts.length, 1);
      const [attempt] = attempts;
      assert.is(attempt!.attempt, 0);
      assert.is(attempt!.provider, 'messages');
      assert.is(attempt!.path, sent.target);
      assert.is(textOf(attempt!.body), sent.body.toString());
      assert.is(attempt!.response!.status, 200);
      assert.is(attempt!.response!.end, 'complete');
      assert.is(textOf(attempt!.response!.body.bytes), answers[index]!.text);
      assert.is(answer.end, 'complete');
      assert.is(answer.head?.streaming, index === 1);
      assert.is(textOf(answer.body.bytes), answers[index]!.text);
      const times = attempt!.response!.body.atMs;
      assert.equal(
        times,
        times.toSorted((a, b) => a - b),
      );
      assert.ok(attempt!.startedMs <= attempt!.response!.headMs);
      const stored = rows.find(({ id }) => id === record.id)!;
      assert.is(row.inputTokensSent, stored.inputTokensSent);
      assert.is(row.costNanoUsd, stored.costNanoUsd);
      assert.is(traceOf(t, record.id)?.capture, 'kept');
    }
  }));

test('the memory for small records that wait for the disk is bounded', () =>
  withProxy({ yaml: ON }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const [record] = await recordsOf(t, 1);
    const writer = createCaptureWriter(join(dirname(t.db), 'many'), () => Date.now());
    // A record without bodies takes little but the memory of a waiting job.
    const nothing = { bytes: new Uint8Array(), sizes: [], atMs: [] };
    const job = {
      record: {
        ...record!,
        request: { ...record!.request, body: nothing.bytes },
        attempts: [],
        answer: { ...record!.answer, body: nothing },
      },
      secrets: { known: [] },
      limits: { maxBytes: 64 * 1024 * 1024, retentionMs: 3_600_000 },
    };
    // The writer thread cannot answer before this synchronous loop ends.
    let refusal: string | null = null;
    let taken = 0;
    for (; refusal === null && taken < 50_000; taken += 1)
      writer.write(job, (reason) => (refusal ??= reason));
    assert.ok(taken < 5000, `${taken} records wait`);
    await writer.close();
  }));

test('files are private, whatever the umask', () =>
  withProxy({ yaml: ON }, async (t) => {
    const mask = process.umask(0);
    try {
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      await recordsOf(t, 1);
    } finally {
      process.umask(mask);
    }
    assert.is(statSync(folderOf(t)).mode & 0o777, 0o700);
    for (const { path } of captureFiles(folderOf(t))) assert.is(statSync(path).mode & 0o777, 0o600);
  }));

test('a request header turns recording on or off for its request', () =>
  withProxy({}, async (t) => {
    const ask = (capture: string, model: string) =>
      exchange(t.proxy.port, {
        headers: { 'x-svc-capture': capture },
        body: json(MESSAGE, { model }),
      });
    await ask('on', 'wanted');
    await ask('off', 'unwanted');
    const records = await recordsOf(t, 2);
    assert.equal(
      records.map(({ row }) => row.model !== null && textOf(records[0]!.request.body)),
      [json(MESSAGE, { model: 'wanted' })],
    );
    assert.is(t.upstream.requests[0]!.header('x-svc-capture'), undefined);
    t.configure(ON);
    await t.proxy.reload();
    await ask('off', 'unwanted');
    await ask('false', 'unwanted');
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is((await recordsOf(t, 5)).length, 2, 'a reload turns it on for every request');
  }));

test('a translated response and each failed attempt are recorded', () =>
  withProxy({ yaml: `${ON}fallback: [chat]\n` }, async (t) => {
    t.upstream.script('/v1/messages', 'status', { status: 503, times: 1 });
    const received = await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    assert.is(received.status, 200);
    const [record] = await recordsOf(t, 1);
    assert.equal(
      record!.attempts.map(({ provider, response }) => [provider, response?.status]),
      [
        ['messages', 503],
        ['chat', 200],
      ],
    );
    assert.is(textOf(record!.answer.body.bytes), received.text);
    assert.is.not(textOf(record!.attempts[1]!.response?.body.bytes), received.text);
  }));

const OWN_KEY = 'sk-ant-own-0123456789abcdef';

test('no key of the client or of the configuration reaches the disk in any form', () =>
  withProxy({ yaml: ON }, async (t) => {
    const unknown = `AKIA${'ABCD2345'.repeat(2)}`;
    // A key block that starts and never ends: the text after this string is not part of the key.
    const quoted = '-----BEGIN PRIVATE KEY-----';
    const texts = `${unknown} ${quoted} echo ${OWN_KEY} chat-key-canary ${Buffer.from(OWN_KEY).toString('base64')}`;
    const body = json(MESSAGE, { messages: [{ role: 'user', content: texts }] });
    const echo = gzipSync(JSON.stringify({ type: 'message', content: texts, model: 'm' }));
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n';
    const raw = Buffer.concat([Buffer.from(`${head}content-length: ${echo.length}\r\n\r\n`), echo]);
    t.upstream.script('/v1/messages', 'raw', { raw, times: 1 });
    await exchange(t.proxy.port, {
      path: `/v1/messages?key=${OWN_KEY}`,
      headers: { 'x-api-key': OWN_KEY, 'accept-encoding': 'gzip', cookie: 'crumb-canary=1' },
      body,
    });
    await exchange(t.proxy.port, { path: '/v1/chat/completions', body: json(CHAT) });
    const [first, second] = await recordsOf(t, 2);
    const all = captureFiles(folderOf(t)).map(({ path }) => readFileSync(path));
    for (const canary of [
      OWN_KEY,
      Buffer.from(OWN_KEY).toString('base64').slice(0, 30),
      encodeURIComponent(OWN_KEY),
      'crumb-canary',
      'generative-key',
      unknown,
      'Bearer chat-key',
    ])
      for (const file of all) assert.not(file.includes(canary), canary);
    const response = first!.attempts[0]!.response!;
    assert.is(headerValue(response.headers, 'content-encoding'), undefined, 'kept decoded');
    assert.match(
      textOf(response.body.bytes),
      /^{"type":"message","content":"redacted[^"]*","model":"m"}$/,
    );
    assert.is(JSON.parse(textOf(first!.request.body)).model, MESSAGE.model);
    assert.is(first!.request.body.length, body.length, 'a mask is as long as what it covers');
    assert.is(headerValue(first!.request.headers, 'x-api-key')!.length, OWN_KEY.length);
    assert.match(headerValue(second!.attempts[0]!.headers, 'authorization')!, /^Bearer red/);
  }));

test('a record truncated by a crash damages no other, and the next start begins a new file', async () => {
  await withProxy({ yaml: ON }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    await recordsOf(t, 2);
    const [file] = captureFiles(folderOf(t));
    const bytes = readFileSync(file!.path);
    appendFileSync(file!.path, bytes.subarray(0, bytes.length / 3));
    const { records, faults } = readCaptures(folderOf(t));
    assert.is(records.length, 2);
    assert.match(faults.join(), /record 3 cannot be read: it was cut short/);
  });
});

test('records beyond the age or size limit are deleted, oldest first', () =>
  withProxy({ yaml: 'capture: { enabled: true, max_mb: 1, retention_days: 1 }\n' }, async (t) => {
    const ask = (n: number) => {
      const content = `${n} ${'word '.repeat(40_000)}`;
      return exchange(t.proxy.port, {
        body: json(MESSAGE, { messages: [{ role: 'user', content }] }),
      });
    };
    for (let n = 1; n <= 8; n += 1) await ask(n);
    const records = await recordsOf(t, 8);
    const sum = captureFiles(folderOf(t)).reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
    assert.ok(sum <= 1024 * 1024, String(sum));
    assert.ok(records.length >= 3 && records.length < 8, String(records.length));
    assert.match(textOf(records.at(-1)!.request.body), /"8 word/, 'the newest stay');
    const old = readdirSync(folderOf(t));
    const daysAgo = Date.now() / 1000 - 2 * 24 * 3600;
    for (const name of old) utimesSync(join(folderOf(t), name), daysAgo, daysAgo);
    await t.proxy.reload();
    assert.equal(readdirSync(folderOf(t)), []);
  }));

test('a failed write loses the record but not the request, and the trace reports it', () =>
  withProxy({ yaml: ON }, async (t) => {
    appendFileSync(folderOf(t), 'a file in the place of the folder');
    const response = await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    assert.is(response.status, 200);
    const [row] = await t.rows(1);
    await t.proxy.services.captures.flush();
    assert.match(traceOf(t, row!.id)?.capture ?? '', /^dropped: /);
    assert.is(t.proxy.services.captures.dropped, 1);
  }));

test.after(closeClients);
test.run();
