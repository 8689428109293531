/**
 * Streams that the upstream ends cleanly in the middle of a response, and complete ones that only
 * look cut.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

type Events = readonly (object | string)[];

const MESSAGES: Sent = { body: json(MESSAGE, { stream: true }) };
const CHATS: Sent = { path: '/v1/chat/completions', body: json(CHAT, { stream: true }) };
const RESPONSES: Sent = {
  path: '/v1/responses',
  body: json({ model: 'm', input: 'hi', stream: true }),
};
const GEN_PATH = '/v1beta/models/g:streamGenerateContent';
const GEN_BODY = json({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
const GENERATIVE: Sent = { path: `${GEN_PATH}?alt=sse`, body: GEN_BODY };

const chunk = (delta: object, finish_reason: string | null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const candidate = (more: object) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hal' }] }, ...more }],
});
const START = { type: 'message_start', message: { stop_reason: null, usage: { input_tokens: 3 } } };
const DELTA = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hal' } };
const STOPPED = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} };
const CREATED = { type: 'response.created', response: { id: 'r', status: 'in_progress' } };
const TEXT_DELTA = { type: 'response.output_text.delta', delta: 'Hal' };
const LONG = 'x'.repeat(9000);

const CUT: readonly (readonly [name: string, sent: Sent, events: Events])[] = [
  ['messages', MESSAGES, [START, DELTA]],
  ['messages, before any content', MESSAGES, [START]],
  ['messages, inside an event', MESSAGES, [START, DELTA, 'event: content_block_delta\ndata: {"ty']],
  ['messages, nothing', MESSAGES, []],
  ['messages, keep-alives only', MESSAGES, [': ping\n\n', ': ping\n\n']],
  ['messages that quote an end', MESSAGES, [START, { ...DELTA, text: '"stop_reason":"x"' }]],
  ['chat', CHATS, [chunk({ role: 'assistant' }, null), chunk({ content: 'Hal' }, null)]],
  ['chat with empty reasons', CHATS, [chunk({ content: 'Hal' }, '')]],
  [
    'chat that asked for usage',
    { ...CHATS, body: json(CHAT, { stream: true, stream_options: { include_usage: true } }) },
    [chunk({ content: 'Hal' }, null)],
  ],
  ['chat, long', CHATS, Array.from({ length: 40 }, () => chunk({ content: LONG }, null))],
  ['chat, inside a long event', CHATS, [`data: {"choices":[{"delta":{"content":"${LONG}`]],
  ['responses', RESPONSES, [CREATED, TEXT_DELTA]],
  ['generative', GENERATIVE, [candidate({})]],
];

test('a stream that is cut in the middle ends in an error, and is partial in row and trace', async () => {
  for (const [name, sent, events] of CUT) {
    await withPlainUpstream({}, async (t, upstream) => {
      upstream.answer(streamOf(...events));
      const response = await exchange(t.proxy.port, sent);
      assert.ok(response.whole, name);
      assert.match(response.text, /ended in the middle of its answer/, name);
      const [row] = await t.rows(1);
      assert.is(row?.outcome, 'partial', name);
      const trace = await exchange(t.proxy.port, { path: '/trace/last', method: 'GET' });
      assert.is((JSON.parse(trace.text) as { outcome: string }).outcome, 'partial', name);
      const health = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
      assert.match(health.text, /"failures":1\b/, name);
    });
  }
});

const COMPLETED = { type: 'response.completed', response: { status: 'completed', usage: null } };

const COMPLETE: readonly (readonly [name: string, sent: Sent, events: Events])[] = [
  ['messages without message_stop', MESSAGES, [START, DELTA, STOPPED]],
  ['messages', MESSAGES, [START, DELTA, STOPPED, { type: 'message_stop' }]],
  ['messages, no final blank', MESSAGES, [START, DELTA, 'data: {"type":"message_stop"}']],
  ['messages, odd spaces', MESSAGES, [START, 'data: { "x": 1, "type" : "message_stop" }\n\n']],
  ['chat without [DONE]', CHATS, [chunk({ content: 'Hal' }, null), chunk({}, 'stop')]],
  ['chat without a reason', CHATS, [chunk({ content: 'Hal' }, null), 'data: [DONE]\n\n']],
  [
    'chat, usage after the finish reason',
    CHATS,
    [chunk({ content: 'Hal' }, 'length'), { choices: [], usage: { prompt_tokens: 1 } }],
  ],
  ['chat, a long last event', CHATS, [{ ...chunk({}, 'stop'), citations: [LONG] }]],
  ['chat with CRLF', CHATS, [`data: ${JSON.stringify(chunk({}, 'stop'))}\r\n\r\n`]],
  ['responses', RESPONSES, [CREATED, TEXT_DELTA, COMPLETED]],
  ['responses, unnamed events', RESPONSES, [`data: ${JSON.stringify(COMPLETED)}\n\n`]],
  ['responses, incomplete', RESPONSES, [{ type: 'response.incomplete', response: {} }]],
  [
    'responses, very long',
    RESPONSES,
    [TEXT_DELTA, { type: 'response.completed', response: { output: [LONG.repeat(200)] } }],
  ],
  ['generative', GENERATIVE, [candidate({}), candidate({ finishReason: 'STOP' })]],
  ['generative, blocked', GENERATIVE, [{ promptFeedback: { blockReason: 'SAFETY' } }]],
  ['an error event', MESSAGES, [START, { type: 'error', error: { message: 'Overloaded' } }]],
  ['an error chunk', CHATS, [chunk({}, null), { error: { message: 'Broken' } }]],
  [
    'an error event, and more',
    CHATS,
    [{ error: { message: 'Broken' } }, ...Array(9).fill(': x\n\n')],
  ],
];

test('a stream with its end event is forwarded unchanged', () =>
  withPlainUpstream({}, async (t, upstream) => {
    for (const [name, sent, events] of COMPLETE) {
      upstream.answer(streamOf(...events));
      const response = await exchange(t.proxy.port, sent);
      assert.not.match(response.text, /middle of its answer/, name);
      assert.ok(response.whole, name);
    }
  }));

test('if no error can be written, the connection is broken off', () =>
  withPlainUpstream({}, async (t, upstream) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`[${JSON.stringify(candidate({}))}\n,`);
      setTimeout(() => response.end(), 50);
    });
    const received = await exchange(t.proxy.port, { path: GEN_PATH, body: GEN_BODY });
    assert.not.ok(received.whole);
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`[${JSON.stringify(candidate({ finishReason: 'STOP' }))}]`);
    });
    assert.ok((await exchange(t.proxy.port, { path: GEN_PATH, body: GEN_BODY })).whole);
    const rows = await t.rows(2);
    assert.equal(
      rows.map(({ outcome }) => outcome),
      ['partial', 'ok'],
    );
  }));

test('a cut translated stream ends in an error, and another provider takes over if nothing was sent', async () => {
  const yaml = 'routing: { primary: chat }';
  await withPlainUpstream({ yaml }, async (t, upstream) => {
    upstream.answer(streamOf(chunk({ content: 'Hal' }, null)));
    for (let n = 0; n < 5; n += 1) {
      const response = await exchange(t.proxy.port, MESSAGES);
      assert.match(response.text, /event: error\n/);
      assert.not.match(response.text, /message_stop/);
      assert.is(response.text.match(/event: error/g)?.length, 1);
    }
    assert.is((await exchange(t.proxy.port, MESSAGES)).status, 503);
    const rows = await t.rows(6);
    assert.ok(rows.slice(0, 5).every((row) => row.outcome === 'partial'));
  });
});

test.after(closeClients);
test.run();
