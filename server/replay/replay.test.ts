/** Captures of a real proxy, replayed through the same graph and through different ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath } from '../../fixtures/paths.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { loadWireRequests, loadWireResponses } from '../../fixtures/wire.ts';
import type { WireDialect } from '../../fixtures/wire.ts';
import { readCaptures } from '../../stages/captures/decode.ts';
import { captureFolder } from '../../stages/captures/files.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { loadConfig } from '../config/load.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../fixtures/server/exchange.ts';
import { compareRecords } from './compare.ts';
import type { Comparison } from './compare.ts';
import { openReplay } from './session.ts';
import type { ReplayOptions } from './session.ts';

const ON = 'capture: { enabled: true }\n';

async function recordsOf(t: TestProxy, count: number): Promise<readonly CaptureRecord[]> {
  await t.rows(count);
  await t.proxy.services.captures.flush();
  return readCaptures(captureFolder(dirname(t.db))).records;
}

interface Replayed {
  readonly comparisons: readonly Comparison[];
  readonly records: readonly CaptureRecord[];
}

/** Replays with a configuration of its own; no provider is reachable, and none is configured. */
async function replay(
  records: readonly CaptureRecord[],
  yaml = '',
  more: Partial<ReplayOptions> = {},
): Promise<Replayed> {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-replay-'));
  const home = mkdtempSync(join(tmpdir(), 'svc-replay-home-'));
  try {
    const { config } = await loadConfig({
      env: { SVC_HOME: home },
      cwd: home,
      home,
      configPath: '/svc-test/config.yaml',
      readFile: (path) =>
        path === '/svc-test/config.yaml' ? { text: yaml, mode: 0o600 } : undefined,
    });
    const opened = await openReplay({ config, scratch, env: {}, ...more });
    try {
      const made: CaptureRecord[] = [];
      for (const record of records) made.push(await opened.run(record));
      const comparisons = made.map((record, index) =>
        compareRecords(records[index]!, record, opened.today),
      );
      return { comparisons, records: made };
    } finally {
      await opened.close();
    }
  } finally {
    rmSync(scratch, { recursive: true });
    rmSync(home, { recursive: true });
  }
}

function assertSame({ comparisons }: Replayed): void {
  for (const { id, target, differences } of comparisons)
    assert.equal(differences, [], `${id} ${target}`);
}

/** A request in each dialect that any provider would accept. */
const PLAIN: Readonly<Record<WireDialect, object>> = {
  messages: MESSAGE,
  chat: CHAT,
  responses: { model: 'm', input: 'hi' },
  completions: { model: 'm', prompt: 'hi' },
  generative: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};
/**
 * The client's own keys, so that a recorded refusal reaches the client instead of cooling down a
 * configured key.
 */
const OWN_KEYS = {
  'x-api-key': 'own-key-0123456789',
  authorization: 'Bearer own-key-0123456789',
  'x-goog-api-key': 'own-key-0123456789',
};

function rawAnswer({ bytes, status, contentType }: ReturnType<typeof loadWireResponses>[number]) {
  const head = `HTTP/1.1 ${status} Recorded\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const size = bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n`;
  const last = bytes.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n';
  return Buffer.concat([Buffer.from(head + size), bytes, Buffer.from(last)]);
}

test('every recorded response of the fixtures is replayed to the same bytes', () =>
  withProxy({ yaml: ON }, async (t) => {
    const responses = loadWireResponses();
    for (const response of responses) {
      t.upstream.script(undefined, 'raw', { raw: rawAnswer(response), times: 1 });
      const { dialect, path, streaming } = response;
      await exchange(t.proxy.port, {
        path,
        headers: OWN_KEYS,
        body: json(PLAIN[dialect], dialect === 'generative' ? {} : { stream: streaming }),
      });
    }
    const records = await recordsOf(t, responses.length);
    assert.is(records.length, responses.length);
    assertSame(await replay(records));
  }));

test('every recorded request of the fixtures is sent upstream unchanged', () =>
  withProxy({ yaml: ON }, async (t) => {
    const requests = loadWireRequests();
    for (const { path, bytes } of requests) await exchange(t.proxy.port, { path, body: bytes });
    const records = await recordsOf(t, requests.length);
    const result = await replay(records);
    assertSame(result);
    assert.ok(result.comparisons.every(({ calls }) => calls.recorded === 1));
  }));

test('translation and failover are replayed', () =>
  withProxy({ yaml: `${ON}fallback: [chat]\n` }, async (t) => {
    const ask = (more: object = {}) => exchange(t.proxy.port, { body: json(MESSAGE, more) });
    t.upstream.script('/v1/messages', 'status', { status: 503, times: 2 });
    await ask({ stream: true });
    await ask();
    t.upstream.script('/v1/messages', 'reset-before-head', { times: 1 });
    await ask({ stream: true });
    const records = await recordsOf(t, 3);
    assert.ok(records.every(({ row }) => row.outcome === 'ok' && row.provider === 'chat'));
    assert.ok(records.some(({ attempts }) => attempts.length === 2));
    assertSame(await replay(records, 'fallback: [chat]\n'));
  }));

test('a broken stream and a client that left are replayed', () =>
  withProxy({ yaml: ON }, async (t) => {
    const body = json(MESSAGE, { stream: true });
    t.upstream.script('/v1/messages', 'reset-mid-body', { times: 1 });
    await exchange(t.proxy.port, { body });
    t.upstream.script('/v1/messages', 'events', { count: 200, everyMs: 20, times: 1 });
    const leaving = await openResponse(t.proxy.port, { body });
    await new Promise((resolve) => leaving.once('data', resolve));
    leaving.destroy();
    const records = await recordsOf(t, 2);
    assert.equal(
      records.map(({ row }) => row.outcome),
      ['partial', 'cancelled'],
    );
    assertSame(await replay(records));
  }));

test('an encoded request is replayed from the same bytes', () =>
  withProxy({ yaml: ON }, async (t) => {
    const body = gzipSync(json(MESSAGE));
    await exchange(t.proxy.port, { headers: { 'content-encoding': 'gzip' }, body });
    const records = await recordsOf(t, 1);
    assert.ok(body.equals(records[0]!.request.body));
    assert.ok(body.equals(records[0]!.attempts[0]!.body!), 'and was sent unchanged');
    assertSame(await replay(records));
  }));

/** A long, mostly repetitive tool result. */
const LOG = Array.from(
  { length: 600 },
  (_, n) =>
    `2026-01-01T10:00:${String(n % 60).padStart(2, '0')} INFO worker ${n % 7} polled the queue, nothing to do`,
).join('\n');
const WITH_LOG = {
  ...MESSAGE,
  messages: [
    { role: 'user', content: 'why does it hang?' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat app.log' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: LOG }] },
  ],
};

test('another configuration shows its effect on bytes, tokens and cost', () =>
  withProxy({ yaml: `${ON}compression: { mode: strict }\n` }, async (t) => {
    await exchange(t.proxy.port, {
      headers: { 'x-svc-mode': 'strict' },
      body: json(WITH_LOG, { model: 'claude-sonnet-4-5' }),
    });
    const records = await recordsOf(t, 1);
    const asIs = await replay(records, 'compression: { mode: hybrid }\n');
    assertSame(asIs);
    const { comparisons } = await replay(records, 'compression: { mode: hybrid }\n', {
      ignoresMode: true,
    });
    const [{ upstreamBytes, differences, sameAnswer, inputTokens }] = comparisons as [Comparison];
    assert.ok(upstreamBytes.replayed < upstreamBytes.recorded / 2);
    assert.ok(sameAnswer);
    assert.ok(inputTokens.replayed! <= inputTokens.recorded!);
    assert.ok(differences.some(({ what }) => what === 'request upstream: body'));
  }));

test('a replay shows the effect of a plugin on responses', () =>
  withProxy({ yaml: ON }, async (t) => {
    await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    const records = await recordsOf(t, 1);
    const module = JSON.stringify(fixturePath('plugins', 'footer.mjs'));
    const { comparisons, records: made } = await replay(
      records,
      `plugins:\n  - module: ${module}\n    config: { text: " [checked]" }\n`,
    );
    assert.not(comparisons[0]!.sameAnswer);
    assert.match(Buffer.from(made[0]!.answer.body.bytes).toString(), /\[checked\]/);
  }));

test('cached responses and refusals, which have no provider, are replayed', () =>
  withProxy({ yaml: ON }, async (t) => {
    const body = json(MESSAGE, { temperature: 0, model: 'claude-sonnet-4-5' });
    await exchange(t.proxy.port, { body });
    await t.rows(1);
    await exchange(t.proxy.port, { body });
    await exchange(t.proxy.port, { body: '{"model":' });
    const records = await recordsOf(t, 3);
    assert.equal(
      records.map(({ row, attempts }) => [row.cacheHit, attempts.length]),
      [
        [false, 1],
        [true, 0],
        [false, 0],
      ],
    );
    const result = await replay(records);
    assertSame(result);
    // With the cache off, the hit is sent again like the first request, and costs the same.
    const [asked, hit] = result.comparisons;
    assert.ok(asked!.costNanoUsd.recorded! > 0);
    for (const figure of ['inputTokens', 'costNanoUsd'] as const)
      assert.equal(hit![figure], { recorded: 0, replayed: asked![figure].recorded }, figure);
  }));

test.after(closeClients);
test.run();
