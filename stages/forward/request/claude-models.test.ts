/**
 * Each generation of Claude refuses parameters that others accept. Clients of another dialect, and
 * clients whose request goes to another model, must not see such refusals: parameters that only
 * steer the model are adapted to it; for what it cannot do, svc gives the reason or another
 * provider answers.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import { enforce } from '../../../fixtures/upstream/enforce.ts';
import type { JsonObject } from '../../../fixtures/upstream/reply.ts';
import { refusalOf } from '../../../fixtures/upstream/messages-rules.ts';
import { traceOf, withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const MODELS = [
  'claude-haiku-4-5',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-7',
  'claude-opus-4-8',
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-fable-5-1',
] as const;

const ASK = [{ role: 'user', content: 'Say hello.' }];
const CHAT_TOOL = { type: 'function', function: { name: 'get', parameters: { type: 'object' } } };
const CHAT: readonly JsonObject[] = [
  { temperature: 0 },
  { top_p: 0.9 },
  { temperature: 1, top_p: 1 },
  { reasoning_effort: 'none', temperature: 0.2 },
  { reasoning_effort: 'minimal' },
  { reasoning_effort: 'high', temperature: 0.2 },
  { reasoning_effort: 'xhigh', max_tokens: 40_000 },
  { reasoning_effort: 'max', max_tokens: 40_000 },
  { tools: [CHAT_TOOL], tool_choice: 'required' },
  { tools: [CHAT_TOOL], tool_choice: { type: 'function', function: { name: 'get' } } },
  { messages: [...ASK, { role: 'assistant', content: 'Hello' }] },
];
const TURN = [{ role: 'user', parts: [{ text: 'hi' }] }];
const GENERATIVE: readonly JsonObject[] = [
  { generationConfig: { temperature: 0.5, topP: 0.9, topK: 40 } },
  { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } } },
];

function* translated(
  model: string,
): Generator<{ readonly path: string; readonly body: JsonObject }> {
  for (const more of CHAT)
    yield { path: '/v1/chat/completions', body: { model, messages: ASK, ...more } };
  for (const more of [{ temperature: 0.2 }, { reasoning: { effort: 'none' } }])
    yield { path: '/v1/responses', body: { model, input: 'Hello', ...more } };
  for (const more of GENERATIVE)
    yield {
      path: `/v1beta/models/${model}:generateContent`,
      body: { contents: TURN, ...more },
    };
}

test('no Claude model refuses the parameters of a request translated from another dialect', async () => {
  const t = await startTestProxy({ yaml: 'provider: messages\n' });
  try {
    enforce(t.upstream);
    for (const model of MODELS) {
      for (const { path, body } of translated(model)) {
        const name = `${model} ${JSON.stringify(body)}`;
        const before = t.upstream.requests.length;
        const response = await exchange(t.proxy.port, { path, body: JSON.stringify(body) });
        if (response.status === 200) continue;
        assert.is(t.upstream.requests.length, before, `${name}: ${response.text}`);
        assert.match(response.text, 'does not accept', name);
      }
    }
  } finally {
    await t.close();
  }
});

const sentBy = (t: { readonly requests: readonly { readonly body: Buffer }[] }): JsonObject =>
  JSON.parse(t.requests.at(-1)!.body.toString()) as JsonObject;

test('reasoning is turned off in the way that the model supports, and shown if it is on', async () => {
  const t = await startTestProxy({ yaml: 'provider: messages\n' });
  try {
    enforce(t.upstream);
    const cases: readonly (readonly [string, string, unknown, unknown])[] = [
      ['claude-opus-4-8', 'none', undefined, undefined],
      ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
      ['claude-haiku-5-5', 'none', { type: 'disabled' }, undefined],
      ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
      ['claude-opus-5-5', 'none', undefined, 'low'],
      ['claude-opus-5-5', 'high', { type: 'adaptive', display: 'summarized' }, 'high'],
      ['claude-opus-4-6', 'xhigh', { type: 'adaptive' }, 'high'],
    ];
    for (const [model, reasoning_effort, thinking, effort] of cases) {
      const body = JSON.stringify({ model, messages: ASK, reasoning_effort });
      const response = await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
      assert.is(response.status, 200, response.text);
      const sent = sentBy(t.upstream);
      assert.equal(sent['thinking'], thinking, `${model} ${reasoning_effort}`);
      const config = (sent['output_config'] ?? {}) as JsonObject;
      assert.is(config['effort'], effort, `${model} ${reasoning_effort}`);
    }
  } finally {
    await t.close();
  }
});

const TOOL = { name: 'get', input_schema: { type: 'object' } };
const CLEARING = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
const BETAS = 'context-management-2025-06-27,fast-mode-2026-02-01';
/** Requests of messages clients to their own model. */
const OWN: readonly JsonObject[] = [
  {},
  { thinking: { type: 'adaptive' } },
  { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
  { output_config: { effort: 'high', format: { type: 'json_schema', schema: {} } } },
  { max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 4000 } },
  { thinking: { type: 'disabled' } },
  { thinking: { type: 'disabled' }, output_config: { effort: 'max' } },
  { thinking: { type: 'between_tools' } },
  { temperature: 0.3 },
  { top_p: 0.3, top_k: 4 },
  { thinking: { type: 'adaptive' }, context_management: CLEARING },
  { max_tokens: 100, thinking: { type: 'adaptive' }, context_management: CLEARING },
  { speed: 'fast' },
  { tools: [TOOL], tool_choice: { type: 'any' } },
  { messages: [...ASK, { role: 'assistant', content: '{' }] },
];

/** One model for each kind of thinking. */
const FROM = MODELS.filter((model) => /(?:4-5|4-6|4-8|opus-5|sonnet-5-5)$/.test(model));

for (const to of MODELS) {
  test(`a request for any Claude model is adapted to ${to}`, () =>
    withPair(
      {
        yaml: (url) =>
          `providers: { spare: { kind: messages, base_url: "${url}", api_key: k } }\nfallback: [spare/${to}]\n`,
      },
      async (t) => {
        t.upstream.script(undefined, '529');
        enforce(t.spare);
        for (const model of FROM) {
          for (const more of OWN) {
            const body = { model, max_tokens: 9000, messages: ASK, ...more };
            if (refusalOf(body, BETAS) !== undefined) continue;
            const before = t.spare.requests.length;
            const headers = { 'anthropic-beta': BETAS };
            const response = await exchange(t.proxy.port, { body: JSON.stringify(body), headers });
            t.recover();
            const name = `${model}: ${JSON.stringify(more)}`;
            if (t.spare.requests.length === before) {
              const trace = JSON.stringify(await traceOf(t, response));
              assert.match(trace, /cannot be forced to call|accept a prefilled answer/, name);
              continue;
            }
            assert.is(response.status, 200, `${name}: ${t.spare.requests.at(-1)!.body.toString()}`);
          }
        }
      },
    ));
}

test('changes for another model are noted, and the chosen model needs none', () =>
  withPair(
    {
      yaml: (url) =>
        `providers: { spare: { kind: messages, base_url: "${url}", api_key: k } }\nfallback: [spare/claude-haiku-4-5]\n`,
    },
    async (t) => {
      const body = JSON.stringify({
        model: 'claude-opus-5-5',
        max_tokens: 9000,
        thinking: { type: 'adaptive' },
        output_config: { effort: 'high' },
        messages: ASK,
      });
      await exchange(t.proxy.port, { body });
      assert.is(t.upstream.requests.at(-1)!.body.toString(), body);
      t.upstream.script(undefined, '529');
      const response = await exchange(t.proxy.port, { body });
      assert.equal(sentBy(t.spare), {
        model: 'claude-haiku-4-5',
        max_tokens: 9000,
        thinking: { type: 'enabled', budget_tokens: 6750 },
        messages: ASK,
      });
      const trace = JSON.stringify(await traceOf(t, response));
      assert.match(trace, 'output_config left out: claude-haiku-4-5 does not accept it');
      assert.match(trace, 'thinking changed to what claude-haiku-4-5 accepts');
    },
  ));

test('a fallback credit is sent only to its own provider, for the model that the client chose', () =>
  withPair(
    {
      yaml: (url) =>
        `providers: { spare: { kind: messages, base_url: "${url}", api_key: k } }\nfallback: [messages/claude-opus-4-6, spare]\n`,
    },
    async (t) => {
      const body = JSON.stringify({
        model: 'claude-opus-4-8',
        max_tokens: 9000,
        fallback_credit_token: 'given',
        messages: ASK,
      });
      await exchange(t.proxy.port, { body });
      assert.is(t.upstream.requests.at(-1)!.body.toString(), body);
      t.upstream.script(undefined, '529');
      const response = await exchange(t.proxy.port, { body });
      assert.is(response.status, 200, response.text);
      for (const sent of [t.upstream.requests.at(-1)!, t.spare.requests.at(-1)!])
        assert.not.match(sent.body.toString(), 'fallback_credit_token');
      assert.match(
        JSON.stringify(await traceOf(t, response)),
        'it is valid only at its own provider',
      );
    },
  ));

test.after(closeClients);
test.run();
