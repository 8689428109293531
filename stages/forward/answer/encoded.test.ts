/** Encoded responses although identity was requested, because something in the proxy reads them. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import type { Scenario } from '../../../fixtures/upstream.ts';
import { toAnswer } from '../../../fixtures/upstream/answer.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import {
  bodyOf,
  expectComplete,
  clientKey,
  textBy,
  withPair,
  withSpare,
} from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';

const CODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

const CHUNKS = [
  {
    id: 'c',
    model: 'gpt-fixture-1',
    choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
  },
  { id: 'c', choices: [{ index: 0, delta: { content: 'Hal' } }] },
  { id: 'c', choices: [{ index: 0, delta: { content: 'lo' } }] },
  { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
];
const STREAM = Buffer.from(
  `${CHUNKS.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`,
);
const DOCUMENT = Buffer.from(
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    model: 'gpt-fixture-1',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hallo' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }),
);

function encoded(coding: string, type: string, body: Buffer, status = 200): Scenario {
  const fields = [
    ['Content-Type', type],
    ['Content-Encoding', coding],
  ] as const;
  const bytes = CODINGS[coding]?.(body) ?? body;
  return answer(() => toAnswer(status, fields, [bytes.subarray(0, 20), bytes.subarray(20)]));
}

const send = (t: Pair, dialect: 'messages' | 'chat', stream: boolean) =>
  exchange(t.proxy.port, {
    path: dialect === 'messages' ? '/v1/messages' : '/v1/chat/completions',
    body: bodyOf(dialect, stream),
    headers: dialect === 'chat' ? clientKey(dialect) : {},
  });

for (const coding of Object.keys(CODINGS)) {
  test(`${coding}: translated answers, streams and errors are decoded`, () =>
    withPair({ yaml: () => 'routing: { primary: chat }\n' }, async (t) => {
      t.upstream.script(undefined, encoded(coding, 'application/json', DOCUMENT));
      const whole = await send(t, 'messages', false);
      assert.equal([whole.status, textBy('messages', false, whole.text)], [200, 'Hallo']);
      assert.is(whole.headers['content-encoding'], undefined);
      t.upstream.script(undefined, encoded(coding, 'text/event-stream', STREAM));
      const streamed = await send(t, 'messages', true);
      assert.is(textBy('messages', true, streamed.text), 'Hallo');
      expectComplete('messages', streamed.text, coding);
      const error = { error: { message: 'context too long', type: 'invalid_request_error' } };
      const bytes = Buffer.from(JSON.stringify(error));
      t.upstream.script(undefined, encoded(coding, 'application/json', bytes, 400));
      const refused = await send(t, 'messages', false);
      assert.is(refused.status, 400);
      assert.match(refused.text, 'context too long');
      const rows = await t.rows(3);
      assert.equal(
        rows.map((row) => [row.outcome, row.inputTokensSent, row.outputTokens]),
        [
          ['ok', 5, 2],
          ['ok', 5, 2],
          ['error', null, null],
        ],
      );
    }));

  test(`${coding}: a stream that is held back is judged by its decoded content`, () =>
    withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
      t.upstream.script(undefined, encoded(coding, 'text/event-stream', STREAM));
      const good = await send(t, 'chat', true);
      assert.is(good.headers['content-encoding'], coding);
      assert.ok(good.body.equals(CODINGS[coding]!(STREAM)));
      assert.is(t.spare.requests.length, 0);
      const failed = Buffer.from('data: {"error":{"message":"boom","code":500}}\n\n');
      t.upstream.script(undefined, encoded(coding, 'text/event-stream', failed));
      const other = await send(t, 'chat', true);
      expectComplete('chat', other.text, coding);
      assert.is(t.spare.requests.length, 1);
    }));
}

test('the usage chunk that only the proxy requested is removed', () =>
  withPair({ yaml: () => '' }, async (t) => {
    t.upstream.script(undefined, encoded('gzip', 'text/event-stream', STREAM));
    const body = JSON.stringify({
      model: 'gpt-fixture-1',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const response = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body,
      headers: { ...clientKey('chat'), 'accept-encoding': 'gzip' },
    });
    assert.is(textBy('chat', true, response.text), 'Hallo');
    assert.not.match(response.text, 'prompt_tokens');
  }));

test('an unknown encoding and undecodable bytes count as failures of the provider', () =>
  withPair({ yaml: () => 'routing: { primary: chat }\n' }, async (t) => {
    t.upstream.script(undefined, encoded('snappy', 'application/json', DOCUMENT));
    const unknown = await send(t, 'messages', false);
    assert.is(unknown.status, 502);
    assert.match(unknown.text, 'snappy');
    const fields = [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ] as const;
    t.upstream.script(
      undefined,
      answer(() => toAnswer(200, fields, [DOCUMENT])),
    );
    const damaged = await send(t, 'messages', false);
    assert.is(damaged.status, 502);
    assert.match(damaged.text, 'cannot be decoded');
  }));

test.after(closeClients);
test.run();
