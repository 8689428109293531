/**
 * The providers' own client libraries through the proxy: streaming or not, with tools, and
 * aborting.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import type { ScenarioOptions } from '../../../fixtures/upstream.ts';
import { until } from '../../../fixtures/wait.ts';

const CLIENT_OPTIONS = { timeout: 120_000, maxRetries: 0 };
const PACED: ScenarioOptions = { count: 200, everyMs: 5 };
const SCHEMA = { type: 'object' as const, properties: { place: { type: 'string' } } };
const ABOUT = 'Tells the weather of a place';
const ASK = [{ role: 'user' as const, content: 'What is the weather in Oslo?' }];

/**
 * Asserts that every row is ok, except the last, aborted one: it is cancelled and its upstream
 * closed.
 */
async function expectRows(t: TestProxy, count: number): Promise<void> {
  const rows = await t.rows(count);
  assert.equal(
    rows.map((row) => row.outcome),
    [...Array<string>(count - 1).fill('ok'), 'cancelled'],
  );
  for (const row of rows.slice(0, -1)) {
    assert.ok((row.inputTokensRaw ?? 0) > 0, 'input tokens');
    assert.ok((row.outputTokens ?? 0) > 0, 'output tokens');
  }
  await until('the upstream is closed', () => t.upstream.connections.at(-1)?.closedBy === 'peer');
}

test('@anthropic-ai/sdk', () =>
  withProxy({}, async (t) => {
    const client = new Anthropic({ baseURL: t.proxy.url, apiKey: 'mine', ...CLIENT_OPTIONS });
    const request = { model: 'claude-fixture-1', max_tokens: 64, messages: ASK };
    const tools = [{ name: 'weather', description: ABOUT, input_schema: SCHEMA }];
    const whole = await client.messages.create(request);
    assert.is(whole.content[0]?.type, 'text');
    assert.is(t.upstream.requests[0]?.header('authorization'), 'Bearer mine');
    assert.ok(whole.usage.output_tokens > 0);
    const streamed = await client.messages.stream(request).finalMessage();
    assert.is(streamed.stop_reason, 'end_turn');
    const called = await client.messages.stream({ ...request, tools }).finalMessage();
    assert.is(called.stop_reason, 'tool_use');
    assert.ok(
      called.content.some((block) => block.type === 'tool_use' && block.name === 'weather'),
    );
    const counted = await client.messages.countTokens({ model: request.model, messages: ASK });
    assert.ok(counted.input_tokens > 0);
    t.upstream.script(undefined, 'events', PACED);
    const stream = await client.messages.create({ ...request, stream: true });
    let seen = 0;
    for await (const _event of stream) if ((seen += 1) === 5) break;
    assert.is(seen, 5);
    const rows = await t.rows(5);
    assert.is(rows[3]?.endpoint, '/v1/messages/count_tokens');
    assert.equal(
      rows.map((row) => row.outcome),
      ['ok', 'ok', 'ok', 'ok', 'cancelled'],
    );
    assert.is(rows[0]?.client, 'anthropic-sdk');
  }));

test('@anthropic-ai/sdk: throws its own error classes', () =>
  withProxy({}, async (t) => {
    const client = new Anthropic({ baseURL: t.proxy.url, apiKey: 'mine', ...CLIENT_OPTIONS });
    const request = { model: 'claude-fixture-1', max_tokens: 64, messages: ASK };
    const fails = async (work: () => PromiseLike<unknown>) => {
      try {
        await work();
      } catch (error) {
        return error;
      }
      throw new assert.Assertion({
        message: 'it did not fail',
        generated: true,
        operator: 'fails',
        expects: '',
        actual: '',
        details: '',
      });
    };
    for (const [name, type] of [
      ['429', Anthropic.RateLimitError],
      ['401', Anthropic.AuthenticationError],
      ['reset-before-head', Anthropic.InternalServerError],
    ] as const) {
      const stop = t.upstream.script(undefined, name);
      assert.instance(await fails(() => client.messages.create(request)), type);
      stop();
    }
    t.upstream.script(undefined, 'close-mid-body', { atByte: 1600 });
    const broken = await fails(() => client.messages.stream(request).finalMessage());
    assert.instance(broken, Anthropic.APIError);
    assert.match(String(broken), 'broke off');
  }));

test('openai: chat and responses', () =>
  withProxy({}, async (t) => {
    const client = new OpenAI({ baseURL: `${t.proxy.url}/v1`, apiKey: 'mine', ...CLIENT_OPTIONS });
    const request = { model: 'gpt-fixture-1', messages: ASK };
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'weather', description: ABOUT, parameters: SCHEMA },
      },
    ];
    const whole = await client.chat.completions.create(request);
    assert.type(whole.choices[0]?.message.content, 'string');
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      assert.ok(chunk.choices.length > 0, 'no chunk that only reports usage');
      text += chunk.choices[0]?.delta.content ?? '';
    }
    assert.ok(text.length > 0);
    const called = await client.chat.completions
      .stream({ ...request, tools })
      .finalChatCompletion();
    assert.is(called.choices[0]?.finish_reason, 'tool_calls');
    const response = await client.responses.create({ model: request.model, input: 'Hello' });
    assert.ok(response.output_text.length > 0);
    const final = await client.responses
      .stream({ model: request.model, input: 'Hello' })
      .finalResponse();
    assert.is(final.status, 'completed');
    t.upstream.script(undefined, 'events', PACED);
    const stream = await client.chat.completions.create({ ...request, stream: true });
    let seen = 0;
    for await (const _chunk of stream) if ((seen += 1) === 5) break;
    await expectRows(t, 6);
  }));

test('@google/genai', () =>
  withProxy({}, async (t) => {
    const client = new GoogleGenAI({
      apiKey: 'mine',
      httpOptions: { baseUrl: t.proxy.url, timeout: 120_000 },
    });
    const request = { model: 'gemini-fixture-1', contents: 'What is the weather in Oslo?' };
    const whole = await client.models.generateContent(request);
    assert.type(whole.text, 'string');
    let text = '';
    for await (const chunk of await client.models.generateContentStream(request)) {
      text += chunk.text ?? '';
    }
    assert.ok(text.length > 0);
    const called = await client.models.generateContent({
      ...request,
      config: {
        tools: [
          {
            functionDeclarations: [
              { name: 'weather', description: ABOUT, parametersJsonSchema: SCHEMA },
            ],
          },
        ],
      },
    });
    assert.is(called.functionCalls?.[0]?.name, 'weather');
    t.upstream.script(undefined, 'events', PACED);
    const gone = new AbortController();
    const stream = await client.models.generateContentStream({
      ...request,
      config: { abortSignal: gone.signal },
    });
    let seen = 0;
    try {
      for await (const _chunk of stream) if ((seen += 1) === 5) gone.abort();
    } catch (error) {
      assert.match(String(error), /abort/i);
    }
    assert.ok(seen >= 5 && seen < 200);
    await expectRows(t, 4);
  }));

test.run();
