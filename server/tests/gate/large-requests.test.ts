/**
 * Bodies with too many values to process without delaying other requests: they are forwarded
 * unchanged, without being parsed.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const TEXTS = many(60_000, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'x' }));
const KEYS = Object.fromEntries(many(30_000, (at) => [`k${at}`, at]));

const LARGE: Readonly<Record<string, Sent>> = {
  'messages of text': { body: json(MESSAGE, { messages: TEXTS }) },
  'tool results': {
    body: json(MESSAGE, {
      messages: [
        {
          role: 'user',
          content: many(50_000, (at) => ({
            type: 'tool_result',
            tool_use_id: `t${at}`,
            content: 'ok',
          })),
        },
      ],
    }),
  },
  'keys of one object': { body: json(MESSAGE, { metadata: KEYS }) },
  'keys of the body': { body: json(MESSAGE, KEYS) },
  'chat messages': { path: '/v1/chat/completions', body: json(CHAT, { messages: TEXTS }) },
  'a streamed chat': {
    path: '/v1/chat/completions',
    body: json(CHAT, { messages: TEXTS, stream: true }),
  },
  'responses items': { path: '/v1/responses', body: json({ model: 'm', input: TEXTS }) },
  'generative contents': {
    path: '/v1beta/models/gemini-fixture-1:generateContent',
    body: json({ contents: many(60_000, () => ({ role: 'user', parts: [{ text: 'x' }] })) }),
  },
};

test('large requests are sent to the provider byte for byte, and are recorded', () =>
  withProxy({ yaml: 'budget: { enabled: true, per_day_usd: 1000 }\n' }, async (t) => {
    let sentCount = 0;
    for (const [name, sent] of Object.entries(LARGE)) {
      const response = await exchange(t.proxy.port, sent);
      assert.is(response.status, 200, `${name}: ${response.text.slice(0, 300)}`);
      assert.ok(t.upstream.requests.at(-1)!.body.equals(Buffer.from(sent.body!)), name);
      sentCount += 1;
      await t.rows(sentCount);
      const trace = t.proxy.services.traces.last();
      assert.match(JSON.stringify(trace), /too many values/, name);
    }
    const rows = await t.rows(Object.keys(LARGE).length);
    assert.is(rows.length, Object.keys(LARGE).length);
    // Requesting usage in a chat stream would change the body, so usage is estimated.
    const estimated = rows.filter((row) => row.usageEstimated);
    assert.is(estimated.length, 1);
    assert.ok(estimated[0]!.stream && estimated[0]!.outputTokens! > 0);
    assert.is(rows[0]!.modelRequested, MESSAGE.model);
  }));

test('large requests cannot be translated for a provider with another dialect', () =>
  withProxy({ yaml: 'routing: { primary: generative }\n' }, async (t) => {
    const response = await exchange(t.proxy.port, LARGE['messages of text']);
    assert.is(response.status, 400, response.text.slice(0, 300));
    assert.match(response.text, /too many values to be translated/);
    assert.is(t.upstream.requests.length, 0);
  }));

test('large requests are validated like any other request', () =>
  withProxy({}, async (t) => {
    const faulty: readonly [string, RegExp][] = [
      [json(MESSAGE, { messages: TEXTS, model: 7 }), /Field 'model'/],
      [json(MESSAGE, { messages: KEYS }), /Field 'messages' must be an array/],
      [json({ messages: TEXTS, max_tokens: 1 }), /Missing required field: model/],
      [json(MESSAGE, { messages: TEXTS, max_tokens: 'x' }), /Field 'max_tokens'/],
      [
        json(MESSAGE, { messages: TEXTS, z: 0 }).replace('"z":0', `"z":${'['.repeat(200)}`),
        /levels|Missing|JSON/,
      ],
    ];
    for (const [body, message] of faulty) {
      const response = await exchange(t.proxy.port, { body });
      assert.is(response.status, 400, response.text.slice(0, 200));
      assert.match(response.text, message);
    }
    assert.is(t.upstream.requests.length, 0);
  }));

test.after(closeClients);
test.run();
