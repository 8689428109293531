/** How responses end over WebSocket: with the usage and `message_stop`, or with an error object. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, toEvent, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, json } from '../../../fixtures/server/exchange.ts';
import { isEnd, isError, openTalk } from '../../../fixtures/server/websocket.ts';

const STREAM = json(MESSAGE, { stream: true });
const CHAT_STREAM = json(CHAT, { stream: true, endpoint: '/v1/chat/completions' });
const RESPONSES_STREAM = json({
  model: 'm',
  input: 'hi',
  stream: true,
  endpoint: '/v1/responses',
});

const START = { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } };
const DELTA = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'Hal' },
};
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const ENDLESS_BYTES = 256 * 1024 * 1024;
const DOCUMENT = { type: 'message', content: [], usage: { input_tokens: 3, output_tokens: 7 } };
const CHUNK = { choices: [{ index: 0, delta: { content: 'Hal' }, finish_reason: null }] };

/** Streams that fail, and the message of the error that ends them. */
const FAILING: readonly (readonly [
  name: string,
  frame: string,
  events: readonly (object | string)[],
  message: RegExp,
])[] = [
  ['cut short', STREAM, [START, DELTA], /middle of its answer/],
  ['cut inside an event', STREAM, [START, 'data: {"type":"content'], /middle of its answer/],
  ['empty', STREAM, [], /middle of its answer/],
  ['chat cut short', CHAT_STREAM, [CHUNK], /middle of its answer/],
  [
    'an error event',
    STREAM,
    [START, DELTA, { type: 'error', error: { type: 'x', message: 'Overloaded' } }],
    /^Overloaded$/,
  ],
  [
    'an error event, and then more',
    STREAM,
    [START, { type: 'error', error: { type: 'x', message: 'Overloaded' } }, DELTA, ...END],
    /^Overloaded$/,
  ],
  ['a chat error', CHAT_STREAM, [CHUNK, { error: { message: 'Broken' } }], /^Broken$/],
  [
    'a chat error that is a text, and an end',
    CHAT_STREAM,
    [CHUNK, { error: 'Broken' }, 'data: [DONE]\n\n'],
    /^Broken$/,
  ],
  ['an error that is no JSON', STREAM, [START, 'event: error\ndata: too busy\n\n'], /^too busy$/],
  [
    'a failed response',
    RESPONSES_STREAM,
    [{ type: 'response.failed', response: { error: { code: 'x', message: 'No luck' } } }],
    /^No luck$/,
  ],
  ['a flat error', RESPONSES_STREAM, [{ type: 'error', message: 'No luck' }], /^No luck$/],
];

test('a failed stream ends in a single error', async () => {
  // Each case has its own proxy, because a provider that fails often is not asked again for a
  // while.
  for (const [name, frame, events, message] of FAILING) {
    await withPlainUpstream({}, async (t, upstream) => {
      upstream.answer(streamOf(...events));
      const client = await openTalk(t.proxy.wsPort);
      const reported = await client.answered(frame);
      assert.match(reported.at(-1)?.error?.message ?? '', message, name);
      assert.not.ok(reported.some(isEnd), name);
      assert.not.ok(
        reported.some(({ type }) => type === 'stats'),
        name,
      );
      const [row] = await t.rows(1);
      assert.is(row?.outcome, 'partial', name);
      client.socket.terminate();
    });
  }
});

const PACKERS = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  'deflate ': deflateRawSync,
  br: brotliCompressSync,
} as const;

test('an encoded response arrives decoded', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const client = await openTalk(t.proxy.wsPort);
    const long = { ...DELTA, delta: { type: 'text_delta', text: 'é東'.repeat(200_000) } };
    const body = [START, DELTA, long, ...END].map(toEvent).join('');
    for (const [coding, pack] of Object.entries(PACKERS)) {
      upstream.answer((response) => {
        const packed = pack(body);
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'content-encoding': coding.trim(),
        });
        response.write(packed.subarray(0, 10));
        setTimeout(() => response.end(packed.subarray(10)), 10);
      });
      const reported = await client.answered(STREAM);
      assert.equal(
        reported.map(({ type }) => type),
        [
          'message_start',
          'content_block_delta',
          'content_block_delta',
          'message_delta',
          'stats',
          'message_stop',
        ],
        coding,
      );
      assert.equal(reported[2], long);
      assert.equal(reported.at(-2)?.usage, { input_tokens: 3, output_tokens: 7 });
      upstream.answer((response) => {
        response.writeHead(200, {
          'content-type': 'application/json',
          'content-encoding': coding.trim(),
        });
        response.end(pack(JSON.stringify(DOCUMENT)));
      });
      const [document, stats] = await client.answered(json(MESSAGE));
      assert.equal(document, DOCUMENT, coding);
      assert.equal(stats?.usage, { input_tokens: 3, output_tokens: 7 });
    }
    assert.ok((await t.rows(10)).every((row) => row.outcome === 'ok'));
    client.socket.terminate();
  }));

test('an encoded response that is cut, corrupt or unreadable ends in an error', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const client = await openTalk(t.proxy.wsPort);
    const events = [START, DELTA].map(toEvent).join('');
    const packed = gzipSync(events.repeat(50));
    const cases: readonly (readonly [name: string, coding: string, type: string, body: Buffer])[] =
      [
        ['a cut stream', 'gzip', 'text/event-stream', packed],
        ['a cut coding', 'gzip', 'text/event-stream', packed.subarray(0, 60)],
        ['a corrupt stream', 'gzip', 'text/event-stream', Buffer.from('no gzip at all')],
        ['a corrupt document', 'gzip', 'application/json', Buffer.from('no gzip at all')],
        ['a cut document', 'gzip', 'application/json', gzipSync('{"type":"mess')],
        ['an unknown coding', 'compress', 'application/json', Buffer.from('?')],
        ['two codings', 'gzip, gzip', 'application/json', gzipSync(packed)],
      ];
    for (const [name, coding, type, body] of cases) {
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': type, 'content-encoding': coding });
        response.end(body);
      });
      const reported = await client.answered(type === 'application/json' ? json(MESSAGE) : STREAM);
      assert.is(reported.at(-1)?.error?.type, 'bad_gateway', name);
      assert.not.ok(reported.some(isEnd), name);
    }
    client.socket.terminate();
  }));

test('an endless response is abandoned, whatever its status', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const client = await openTalk(t.proxy.wsPort);
    for (const status of [200, 500]) {
      let sentBytes = 0;
      upstream.answer((response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        const piece = Buffer.alloc(64 * 1024, ' ');
        const more = (): void => {
          // Far more than the proxy keeps, but bounded, so that a failing test ends.
          while (sentBytes < ENDLESS_BYTES && !response.destroyed) {
            sentBytes += piece.length;
            if (!response.write(piece)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      });
      const reported = await client.answered(json(MESSAGE));
      assert.match(reported[0]?.error?.message ?? '', 'larger than 32 MiB');
      assert.ok(sentBytes < ENDLESS_BYTES, `${sentBytes} bytes were taken`);
    }
    client.socket.terminate();
  }));

test('a response with an error status ends in an error with a message', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const client = await openTalk(t.proxy.wsPort);
    for (const [body, message] of [
      ['{"error":{"message":"No"}}', 'No'],
      ['{"error":"No"}', 'No'],
      ['{"message":"No"}', 'No'],
      ['<html>', 'The provider answered with status 418'],
      ['', 'The provider answered with status 418'],
    ] as const) {
      upstream.answer((response) => {
        response.writeHead(418, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(body));
      });
      const reported = await client.answered(json(MESSAGE));
      assert.equal(
        reported.map(({ error }) => error?.message),
        [message],
      );
      assert.ok(isError(reported[0]!));
    }
    client.socket.terminate();
  }));

test.run();
