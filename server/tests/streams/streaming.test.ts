/** `streaming.*`: forms, pacing, stream slots, and streams made from whole responses. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { request as onRequest } from '../../../fixtures/upstream.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  openResponse,
  readFullResponse,
} from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

const STREAM = json(MESSAGE, { stream: true });
const LINES = 'application/x-ndjson';

/** Returns the payloads of a stream's events. */
function payloads(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
}

function lines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

test('by default an event is passed on before the next one arrives', () =>
  withProxy({}, async (t) => {
    let isSeen: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (isSeen = resolve));
    t.upstream.script(
      undefined,
      onRequest(async (connection) => {
        const { wire, headLength, pieces } = connection.answer();
        const write = (piece: Buffer, end = '') =>
          connection.write(`${piece.length.toString(16)}\r\n${piece.toString()}\r\n${end}`);
        await connection.write(wire.subarray(0, headLength));
        await write(pieces[0]!);
        // A proxy that buffers would wait here for the rest.
        await seen;
        await write(pieces.at(-1)!, '0\r\n\r\n');
      }),
    );
    const message = await openResponse(t.proxy.port, { body: STREAM });
    message.once('data', isSeen);
    const { text } = await readFullResponse(message);
    assert.match(text, 'message_start');
  }));

test('a client that accepts lines gets one event per line', () =>
  withProxy({}, async (t) => {
    const direct = await exchange(t.upstream.port, { body: STREAM });
    const response = await exchange(t.proxy.port, { body: STREAM, headers: { accept: LINES } });
    assert.is(response.headers['content-type'], LINES);
    assert.is(response.headers['transfer-encoding'], 'chunked');
    assert.equal(lines(response.text), payloads(direct.text));
    const chat: Sent = { path: '/v1/chat/completions', body: json(CHAT, { stream: true }) };
    const chatting = await exchange(t.proxy.port, { ...chat, headers: { accept: LINES } });
    assert.ok(lines(chatting.text).length > 2);
    assert.not.match(chatting.text, 'DONE');
    const whole = await exchange(t.proxy.port, { body: json(MESSAGE), headers: { accept: LINES } });
    assert.is(whole.headers['content-type'], 'application/json', 'a document stays one');
  }));

test('a stream of lines that breaks off ends in an error line', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'close-mid-body', { atByte: 500 });
    const response = await exchange(t.proxy.port, { body: STREAM, headers: { accept: LINES } });
    const last = lines(response.text).at(-1) as { type: string; error: { type: string } };
    assert.is(last.type, 'error');
    assert.is(last.error.type, 'bad_gateway');
    assert.ok(response.whole);
  }));

test('`formats` decides if the client states no preference', () =>
  withProxy({ yaml: 'streaming: { formats: [chunked] }' }, async (t) => {
    const response = await exchange(t.proxy.port, { body: STREAM });
    assert.is(response.headers['content-type'], LINES);
  }));

test('lines are not offered unless `formats` contains chunked', () =>
  withProxy({ yaml: 'streaming: { formats: [sse] }' }, async (t) => {
    const response = await exchange(t.proxy.port, { body: STREAM, headers: { accept: LINES } });
    assert.match(response.headers['content-type'] ?? '', 'text/event-stream');
  }));

const ACCEPTS: readonly (readonly [accept: string | readonly string[], isLines: boolean])[] = [
  ['Application/X-NDJSON', true],
  ['text/event-stream, application/x-ndjson', true],
  ['application/x-ndjson; q=0.5', true],
  [['*/*', LINES], true],
  ['application/x-ndjson;q=0', false],
  ['application/x-ndjson; Q = 0.000, */*', false],
  ['text/event-stream, application/x-ndjson;q=0.1', false],
  ['application/x-ndjson-seq', false],
  ['*/*', false],
];

test('`Accept` is parsed as HTTP defines it', () =>
  withProxy({}, async (t) => {
    for (const [accept, isLines] of ACCEPTS) {
      const response = await exchange(t.proxy.port, { body: STREAM, headers: { accept } });
      assert.is(response.headers['content-type'] === LINES, isLines, String(accept));
    }
  }));

test('streams of both forms ask a web server in front not to buffer them, documents do not', () =>
  withProxy({}, async (t) => {
    const exchangeAs = async (body: string, accept: string) =>
      (await exchange(t.proxy.port, { body, headers: { accept } })).headers;
    const events = await exchangeAs(STREAM, '*/*');
    assert.match(events['content-type'] ?? '', 'text/event-stream');
    assert.is(events['x-accel-buffering'], 'no');
    const inLines = await exchangeAs(STREAM, LINES);
    assert.is(inLines['content-type'], LINES);
    assert.is(inLines['x-accel-buffering'], 'no');
    assert.is((await exchangeAs(json(MESSAGE), '*/*'))['x-accel-buffering'], undefined);
  }));

/** Sends one event of the response every `everyMs`; resolves with their arrival times. */
async function arrivals(t: TestProxy, everyMs: number, count: number, accept = '*/*') {
  t.upstream.script(undefined, 'events', { count, everyMs });
  const sentAtMs = Date.now();
  const message = await openResponse(t.proxy.port, { body: STREAM, headers: { accept } });
  const times: number[] = [];
  message.on('data', () => times.push(Date.now() - sentAtMs));
  const { text } = await readFullResponse(message);
  return { times, text };
}

/**
 * Returns the first of ten responses that arrives in at least `min` pieces, or the last: a busy
 * machine reads several at once.
 */
async function inPieces(min: number, ask: () => ReturnType<typeof arrivals>) {
  let found = await ask();
  for (let more = 9; more > 0 && found.times.length < min; more -= 1) found = await ask();
  return found;
}

test('buffer_tokens collects events, flush_interval_ms limits the wait, and nothing is lost', async () => {
  const byCount = 'streaming: { buffer_tokens: 10, flush_interval_ms: 5000 }';
  await withProxy({ yaml: byCount }, async (t) => {
    const direct = await exchange(t.upstream.port, { body: STREAM });
    const plain = await exchange(t.proxy.port, { body: STREAM });
    assert.is(plain.text, direct.text);
    const { times } = await inPieces(2, () => arrivals(t, 2, 50));
    assert.ok(times.length >= 2 && times.length <= 7, `${times.length} flushes of 10 tokens`);
  });
  const byTwo = 'streaming: { buffer_tokens: 2, flush_interval_ms: 60000 }';
  await withProxy({ yaml: byTwo }, async (t) => {
    for (const accept of [LINES, 'text/event-stream']) {
      const { times } = await inPieces(6, () => arrivals(t, 30, 20, accept));
      assert.ok(times.length >= 6, `${accept}: ${times.length} flushes of 2 tokens`);
    }
  });
  const byTime = 'streaming: { buffer_tokens: 1000, flush_interval_ms: 30 }';
  await withProxy({ yaml: byTime }, async (t) => {
    const inLines = await inPieces(4, () => arrivals(t, 10, 20, LINES));
    assert.ok(inLines.times.length >= 4, `${inLines.times.length} flushes of lines`);
    assert.match(inLines.text, /\{"type":"message_stop"\}\n$/);
    const { times, text } = await inPieces(4, () => arrivals(t, 10, 20));
    assert.ok(times.length >= 4, `${times.length} flushes in some 200 ms`);
    assert.match(text, /event: message_stop\ndata: .*\n\n$/);
  });
});

test('one stream more than max_concurrent_streams is 503 with Retry-After, and slots are released', () =>
  withProxy({ yaml: 'streaming: { max_concurrent_streams: 2 }' }, async (t) => {
    const stop = t.upstream.script(undefined, 'stall-after-head');
    const gone = new AbortController();
    const held = [1, 2].map(() =>
      openResponse(t.proxy.port, { body: STREAM, signal: gone.signal }),
    );
    for (const message of await Promise.all(held)) message.on('error', () => undefined);
    const response = await exchange(t.proxy.port, { body: STREAM });
    assert.is(response.status, 503);
    assert.match(response.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    assert.is(t.upstream.requests.length, 2);
    stop();
    const whole = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(whole.status, 200, 'a document needs no place');
    gone.abort();
    await t.rows(4);
    assert.is((await exchange(t.proxy.port, { body: STREAM })).status, 200);
    assert.is(t.proxy.services.streams.acquire() === undefined, false);
  }));

const SHORT: readonly (readonly [name: string, sent: Sent, end: RegExp])[] = [
  ['messages', { body: STREAM }, /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/],
  [
    'chat',
    { path: '/v1/chat/completions', body: json(CHAT, { stream: true }) },
    /data: \[DONE\]\n\n$/,
  ],
  [
    'responses',
    { path: '/v1/responses', body: json({ model: 'm', input: 'hello', stream: true }) },
    /event: response\.completed\ndata: .*\n\n$/,
  ],
  [
    'generative',
    {
      path: '/v1beta/models/m:streamGenerateContent?alt=sse',
      body: json({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
    },
    /"finishReason":"STOP".*\s+$/,
  ],
];

const WITHOUT = [
  'streaming: { enabled: false }',
  `
providers:
  messages: { supports_streaming: false }
  chat: { supports_streaming: false }
  generative: { supports_streaming: false }
`,
];

for (const yaml of WITHOUT) {
  test(`a stream made from a whole response: ${yaml.trim().split('\n')[0]}`, () =>
    withProxy({ yaml }, async (t) => {
      for (const [name, sent, end] of SHORT) {
        const response = await exchange(t.proxy.port, sent);
        assert.is(response.status, 200, `${name}: ${response.text}`);
        assert.match(response.headers['content-type'] ?? '', 'text/event-stream', name);
        assert.match(response.text, end, name);
        const received = t.upstream.requests.at(-1)!;
        assert.not.match(received.body.toString(), '"stream":true', name);
        assert.not.match(received.target, 'streamGenerateContent', name);
      }
      const rows = await t.rows(SHORT.length);
      for (const row of rows) {
        assert.is(row.outcome, 'ok', row.endpoint);
        assert.ok((row.outputTokens ?? 0) > 0, `${row.endpoint} is metered`);
      }
      const refused = t.upstream.script(undefined, '400');
      const response = await exchange(t.proxy.port, { body: STREAM });
      assert.is(response.status, 400, 'an error stays a document');
      assert.match(response.text, 'Fixture 400');
      refused();
      const whole = await exchange(t.proxy.port, { body: json(MESSAGE) });
      assert.is(whole.headers['content-type'], 'application/json');
    }));
}

test.after(closeClients);
test.run();
