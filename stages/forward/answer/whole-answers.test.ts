/**
 * Providers and models that may not stream: fetched as a document, sent to the client as one short
 * stream.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import {
  direct,
  expectComplete,
  clientKey,
  withPair,
  withSpare,
} from '../../../fixtures/forward/pair.ts';
import type { Pair } from '../../../fixtures/forward/pair.ts';

const SETTINGS = {
  'streaming.enabled': 'streaming: { enabled: false }',
  supports_streaming:
    'providers:\n  messages: { supports_streaming: false }\n  chat: { supports_streaming: false }\n  generative: { supports_streaming: false }',
  'models.<alias>.stream':
    'models:\n  claude-fixture-1: { stream: false }\n  gpt-fixture-1: { stream: false }\n  gemini-fixture-1: { stream: false }',
};
const CLIENT_OPTIONS = { timeout: 120_000, maxRetries: 0, apiKey: 'mine' };
const ASK = [{ role: 'user' as const, content: 'Hello there' }];
const SCHEMA = { type: 'object' as const, properties: {} };

async function allDialects(t: Pair): Promise<void> {
  const openai = new OpenAI({ baseURL: `${t.proxy.url}/v1`, ...CLIENT_OPTIONS });
  const anthropic = new Anthropic({ baseURL: t.proxy.url, ...CLIENT_OPTIONS });
  const message = await anthropic.messages
    .stream({
      model: 'claude-fixture-1',
      max_tokens: 2000,
      messages: ASK,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    })
    .finalMessage();
  const [thinking] = message.content;
  assert.is(thinking?.type, 'thinking');
  assert.match(thinking?.type === 'thinking' ? thinking.signature : '', /^c2ln/);
  assert.is(message.content.at(-1)?.type, 'text');
  const tool = { type: 'function' as const, function: { name: 'look', parameters: SCHEMA } };
  const completion = await openai.chat.completions
    .stream({ model: 'gpt-fixture-1', messages: ASK, tools: [tool] })
    .finalChatCompletion();
  assert.is(completion.choices[0]?.message.tool_calls?.length, 1);
  const response = await openai.responses
    .stream({ model: 'gpt-fixture-1', input: ASK })
    .finalResponse();
  assert.match(response.output_text, 'Hello there');
  const google = new GoogleGenAI({ apiKey: 'mine', httpOptions: { baseUrl: t.proxy.url } });
  let text = '';
  const parts = await google.models.generateContentStream({
    model: 'gemini-fixture-1',
    contents: 'Hello there',
  });
  for await (const part of parts) text += part.text ?? '';
  assert.match(text, 'Hello there');
}

for (const [name, yaml] of Object.entries(SETTINGS)) {
  test(`${name}: one short stream in every dialect`, () =>
    withPair({ yaml: withSpare(undefined, yaml) }, async (t) => {
      await allDialects(t);
      for (const request of t.upstream.requests) {
        assert.not.match(request.body.toString(), '"stream":true');
        assert.not.match(request.target, 'streamGenerateContent');
      }
      const rows = await t.rows(4);
      for (const row of rows) {
        assert.equal([row.outcome, row.stream], ['ok', true], row.endpoint);
        assert.ok((row.outputTokens ?? 0) > 0, row.endpoint);
      }
    }));
}

const STREAM = { path: '/v1/messages', body: json(MESSAGE, { stream: true }) };

test('the client gets JSON lines if it asked for lines, and provider errors unchanged', () =>
  withPair({ yaml: withSpare(undefined, SETTINGS['streaming.enabled']) }, async (t) => {
    const headers = { ...clientKey('messages'), accept: 'application/x-ndjson' };
    const lines = await exchange(t.proxy.port, { ...STREAM, headers });
    assert.is(lines.headers['content-type'], 'application/x-ndjson');
    const events = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    assert.ok(events.length > 3);
    for (const status of ['400', '500'] as const) {
      const stop = t.upstream.script(undefined, status);
      const response = await exchange(t.proxy.port, { ...STREAM, headers: clientKey('messages') });
      assert.ok(response.body.equals((await direct(t.upstream, STREAM)).body), status);
      stop();
    }
  }));

test('whole answers work for aliases, models with their own provider and configured extra members', () =>
  withPair(
    {
      yaml: (url) => `
models:
  fast: { provider: local }
providers:
  messages: { model_aliases: { sonnet: claude-fixture-9 }, extra_body: { top_k: 5, max_tokens: 1 }, headers: { x-team: blue } }
  local: { kind: chat, base_url: "${url}", auth: none, model_aliases: { fast: qwen-3 } }`,
    },
    async (t) => {
      const send = (model: string) =>
        exchange(t.proxy.port, {
          path: '/v1/messages',
          body: json(MESSAGE, { model, stream: true }),
          headers: { ...clientKey('messages'), 'x-team': 'red' },
        });
      const aliased = await send('sonnet');
      const seen = t.upstream.requests[0]!;
      const body = JSON.parse(seen.body.toString()) as Record<string, unknown>;
      assert.equal([body['model'], body['top_k'], body['max_tokens']], ['claude-fixture-9', 5, 10]);
      assert.is(seen.header('x-team'), 'blue');
      expectComplete('messages', aliased.text, 'alias');
      const fast = await send('fast');
      expectComplete('messages', fast.text, 'fast');
      assert.match(t.spare.requests[0]!.body.toString(), '"model":"qwen-3"');
      const rows = await t.rows(2);
      assert.equal(
        rows.map((row) => [row.provider, row.modelRequested, row.model]),
        [
          ['messages', 'sonnet', 'claude-fixture-9'],
          ['local', 'fast', 'qwen-3'],
        ],
      );
    },
  ));

test.after(closeClients);
test.run();
