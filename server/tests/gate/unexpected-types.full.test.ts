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
const ODD: readonly unknown[] = [
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

type Asked = readonly [path: string, body: object];

function requestsWith(odd: unknown): readonly Asked[] {
  const messages = (...more: unknown[]): Asked => [
    '/v1/messages',
    { ...MESSAGE, messages: [USER, ...more] },
  ];
  const chat = (...more: unknown[]): Asked => [
    '/v1/chat/completions',
    { ...CHAT, messages: [USER, ...more] },
  ];
  const items = (...more: unknown[]): Asked => [
    '/v1/responses',
    { ...RESPONSES, input: [USER, ...more] },
  ];
  const tool = { type: odd, name: odd, function: { name: odd, parameters: odd } };
  return [
    messages({ role: odd, content: 'x' }),
    messages({ role: 'user', content: [{ type: odd, text: 'x' }] }),
    messages({
      role: 'assistant',
      content: [{ type: 'tool_use', id: odd, name: odd, input: odd }],
    }),
    messages({ role: 'user', content: [{ type: 'tool_result', tool_use_id: odd, content: odd }] }),
    ['/v1/messages', { ...MESSAGE, tools: [tool], tool_choice: { type: odd } }],
    chat({ role: odd, content: 'x' }),
    chat({ role: 'user', content: [{ type: odd, text: 'x' }] }),
    chat({ role: 'assistant', content: null, tool_calls: [{ type: odd, id: odd, index: odd }] }),
    chat({ role: 'tool', tool_call_id: odd, content: odd }),
    ['/v1/chat/completions', { ...CHAT, tools: [tool], response_format: { type: odd } }],
    items({ type: odd, role: odd, content: 'x' }),
    items({ type: 'message', role: 'user', content: [{ type: odd, text: 'x' }] }),
    items({ type: 'function_call', call_id: odd, name: odd, arguments: odd }),
    items({ type: 'function_call_output', call_id: odd, output: odd }),
    [
      '/v1/responses',
      { ...RESPONSES, tools: [tool], tool_choice: odd, text: { format: { type: odd } } },
    ],
    [GENERATE_PATH, { contents: [{ role: odd, parts: [{ text: 'x' }] }] }],
    [GENERATE_PATH, { contents: [{ role: 'user', parts: [{ functionCall: odd }] }] }],
  ];
}

const PRIMARIES = ['messages', 'chat', 'generative'];
for (const primary of PRIMARIES) {
  test(`no unexpected type, role or index in a request causes a 500 (${primary})`, () =>
    withProxy({ yaml: `routing: { primary: ${primary} }` }, async (t) => {
      let count = 0;
      for (const [path, body] of ODD.flatMap(requestsWith)) {
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
function eventsWith(odd: unknown): readonly object[][] {
  const delta = { role: odd, content: 'x', tool_calls: [{ index: odd, id: odd, type: odd }] };
  return [
    [
      { type: 'message_start', message: { id: odd, role: odd, content: [], usage: odd } },
      { type: 'content_block_start', index: odd, content_block: { type: odd } },
      { type: 'content_block_delta', index: odd, delta: { type: odd, text: 'x' } },
      { type: odd },
      { type: 'message_delta', delta: { stop_reason: odd }, usage: { output_tokens: odd } },
      { type: 'message_stop' },
    ],
    [
      { id: odd, choices: [{ index: odd, delta, finish_reason: odd }], usage: odd },
      { choices: odd },
    ],
    [
      { type: 'response.created', response: { id: odd, status: odd } },
      { type: 'response.output_item.added', output_index: odd, item: { type: odd, id: odd } },
      { type: 'response.output_text.delta', output_index: odd, delta: odd },
      { type: 'response.completed', response: { output: [{ type: odd }], usage: odd } },
    ],
    [{ candidates: [{ index: odd, content: { role: odd, parts: [{ text: odd }] } }] }],
  ];
}

for (const primary of PRIMARIES) {
  test(`no unexpected type, role or index in a response causes a 500 (${primary})`, () =>
    withPlainUpstream({ yaml: `routing: { primary: ${primary} }` }, async (t, upstream) => {
      const requests: readonly Asked[] = [
        ['/v1/messages', MESSAGE],
        ['/v1/chat/completions', CHAT],
        ['/v1/responses', RESPONSES],
        [GENERATE_PATH, GENERATE],
      ];
      let count = 0;
      for (const events of ODD.flatMap(eventsWith)) {
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
