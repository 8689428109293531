/**
 * A `type`, `role` or `index` that is an object with its own `toString`, from clients and from
 * providers.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const RESPONSES = { model: 'gpt-fixture-1', input: 'hello' };
const GENERATE = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
const GENERATE_PATH = '/v1beta/models/gemini-fixture-1:streamGenerateContent?alt=sse';
const UNEXPECTED: readonly unknown[] = [
  { toString: 1 },
  { valueOf: null },
  [],
  1e300,
  -1,
  0.5,
  null,
  '__proto__',
  true,
];
const USER = { role: 'user', content: 'x' };

type RequestCase = readonly [path: string, body: object];

function requestsWith(unexpected: unknown): readonly RequestCase[] {
  const messages = (...more: unknown[]): RequestCase => [
    '/v1/messages',
    { ...MESSAGE, messages: [USER, ...more] },
  ];
  const chat = (...more: unknown[]): RequestCase => [
    '/v1/chat/completions',
    { ...CHAT, messages: [USER, ...more] },
  ];
  const items = (...more: unknown[]): RequestCase => [
    '/v1/responses',
    { ...RESPONSES, input: [USER, ...more] },
  ];
  const tool = {
    type: unexpected,
    name: unexpected,
    function: { name: unexpected, parameters: unexpected },
  };
  return [
    messages({ role: unexpected, content: 'x' }),
    messages({ role: 'user', content: [{ type: unexpected, text: 'x' }] }),
    messages({
      role: 'assistant',
      content: [{ type: 'tool_use', id: unexpected, name: unexpected, input: unexpected }],
    }),
    messages({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: unexpected, content: unexpected }],
    }),
    ['/v1/messages', { ...MESSAGE, tools: [tool], tool_choice: { type: unexpected } }],
    chat({ role: unexpected, content: 'x' }),
    chat({ role: 'user', content: [{ type: unexpected, text: 'x' }] }),
    chat({
      role: 'assistant',
      content: null,
      tool_calls: [{ type: unexpected, id: unexpected, index: unexpected }],
    }),
    chat({ role: 'tool', tool_call_id: unexpected, content: unexpected }),
    ['/v1/chat/completions', { ...CHAT, tools: [tool], response_format: { type: unexpected } }],
    items({ type: unexpected, role: unexpected, content: 'x' }),
    items({ type: 'message', role: 'user', content: [{ type: unexpected, text: 'x' }] }),
    items({ type: 'function_call', call_id: unexpected, name: unexpected, arguments: unexpected }),
    items({ type: 'function_call_output', call_id: unexpected, output: unexpected }),
    [
      '/v1/responses',
      {
        ...RESPONSES,
        tools: [tool],
        tool_choice: unexpected,
        text: { format: { type: unexpected } },
      },
    ],
    [GENERATE_PATH, { contents: [{ role: unexpected, parts: [{ text: 'x' }] }] }],
    [GENERATE_PATH, { contents: [{ role: 'user', parts: [{ functionCall: unexpected }] }] }],
  ];
}

const PRIMARIES = ['messages', 'chat', 'generative'];
for (const primary of PRIMARIES) {
  test(`no unexpected type, role or index in a request causes a 500 (${primary})`, () =>
    withProxy({ yaml: `routing: { primary: ${primary} }` }, async (t) => {
      let count = 0;
      for (const [path, body] of UNEXPECTED.flatMap(requestsWith)) {
        for (const stream of [false, true]) {
          const text = JSON.stringify({ ...body, stream });
          const { status } = await exchange(t.proxy.port, { path, body: text });
          assert.is.not(status, 500, `${path} ${text}`);
          count += 1;
        }
      }
      await t.rows(count);
    }));
}

/** Encodes an event; the `event:` line is omitted if the type is not a string. */
function toEvent(event: object): string {
  const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}

/** Responses in each dialect with `odd` in place of a type, role or index. */
function eventsWith(unexpected: unknown): readonly object[][] {
  const delta = {
    role: unexpected,
    content: 'x',
    tool_calls: [{ index: unexpected, id: unexpected, type: unexpected }],
  };
  return [
    [
      {
        type: 'message_start',
        message: { id: unexpected, role: unexpected, content: [], usage: unexpected },
      },
      { type: 'content_block_start', index: unexpected, content_block: { type: unexpected } },
      { type: 'content_block_delta', index: unexpected, delta: { type: unexpected, text: 'x' } },
      { type: unexpected },
      {
        type: 'message_delta',
        delta: { stop_reason: unexpected },
        usage: { output_tokens: unexpected },
      },
      { type: 'message_stop' },
    ],
    [
      {
        id: unexpected,
        choices: [{ index: unexpected, delta, finish_reason: unexpected }],
        usage: unexpected,
      },
      { choices: unexpected },
    ],
    [
      { type: 'response.created', response: { id: unexpected, status: unexpected } },
      {
        type: 'response.output_item.added',
        output_index: unexpected,
        item: { type: unexpected, id: unexpected },
      },
      { type: 'response.output_text.delta', output_index: unexpected, delta: unexpected },
      {
        type: 'response.completed',
        response: { output: [{ type: unexpected }], usage: unexpected },
      },
    ],
    [
      {
        candidates: [
          { index: unexpected, content: { role: unexpected, parts: [{ text: unexpected }] } },
        ],
      },
    ],
  ];
}

for (const primary of PRIMARIES) {
  test(`no unexpected type, role or index in a response causes a 500 (${primary})`, () =>
    withPlainUpstream({ yaml: `routing: { primary: ${primary} }` }, async (t, upstream) => {
      const requests: readonly RequestCase[] = [
        ['/v1/messages', MESSAGE],
        ['/v1/chat/completions', CHAT],
        ['/v1/responses', RESPONSES],
        [GENERATE_PATH, GENERATE],
      ];
      let count = 0;
      for (const events of UNEXPECTED.flatMap(eventsWith)) {
        upstream.answer(streamOf(...events.map(toEvent)));
        for (const [path, body] of requests) {
          const { status } = await exchange(t.proxy.port, {
            path,
            body: JSON.stringify({ ...body, stream: true }),
          });
          assert.is.not(status, 500, `${path} ${JSON.stringify(events)}`);
          count += 1;
        }
      }
      await t.rows(count);
      const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/stats' });
      assert.not.match(text, '"internal"');
    }));
}

test.after(closeClients);
test.run();
