/**
 * The official clients with providers of another kind: whole and streamed, with tools, and with
 * failures.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../fixtures/upstream.ts';
import { streamAnswer, toAnswer, toEvent } from '../../fixtures/upstream/answer.ts';
import { CHAT, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { withPair } from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';

/** What a client's library parsed. */
interface Parsed {
  readonly text: string;
  readonly tools: readonly string[];
  readonly outputTokens: number | undefined;
}

interface Ask {
  readonly stream: boolean;
  readonly withTools: boolean;
}

type Client = (url: string, ask: Ask) => Promise<Parsed>;

const CLIENT_OPTIONS = { timeout: 120_000, maxRetries: 0, apiKey: 'mine' };
const SCHEMA = { type: 'object' as const, properties: { place: { type: 'string' } } };
const ASK = [{ role: 'user' as const, content: 'What is the weather in Oslo?' }];
const NAME = 'weather';

const anthropic: Client = async (url, { stream, withTools }) => {
  const client = new Anthropic({ baseURL: url, ...CLIENT_OPTIONS });
  const tools = withTools ? [{ name: NAME, input_schema: SCHEMA }] : [];
  const request = { model: 'claude-fixture-1', max_tokens: 64, messages: ASK, tools };
  const message = stream
    ? await client.messages.stream(request).finalMessage()
    : await client.messages.create(request);
  assert.is(message.stop_reason, withTools ? 'tool_use' : 'end_turn');
  return {
    text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    tools: message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
    outputTokens: message.usage.output_tokens,
  };
};

const chat: Client = async (url, { stream, withTools }) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, ...CLIENT_OPTIONS });
  const tools = [{ type: 'function' as const, function: { name: NAME, parameters: SCHEMA } }];
  const request = { model: 'gpt-fixture-1', messages: ASK, ...(withTools && { tools }) };
  const include = { stream_options: { include_usage: true } };
  const completion = stream
    ? await client.chat.completions.stream({ ...request, ...include }).finalChatCompletion()
    : await client.chat.completions.create(request);
  const [choice] = completion.choices;
  assert.is(choice?.finish_reason, withTools ? 'tool_calls' : 'stop');
  return {
    text: choice?.message.content ?? '',
    tools: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [call.function.name] : [],
    ),
    outputTokens: completion.usage?.completion_tokens,
  };
};

const responses: Client = async (url, { stream, withTools }) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, ...CLIENT_OPTIONS });
  const tools = withTools
    ? [{ type: 'function' as const, name: NAME, parameters: SCHEMA, strict: false }]
    : [];
  const request = { model: 'gpt-fixture-1', input: ASK, tools, store: false };
  const response = stream
    ? await client.responses.stream(request).finalResponse()
    : await client.responses.create(request);
  assert.is(response.status, 'completed');
  return {
    text: response.output_text,
    tools: response.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : [])),
    outputTokens: response.usage?.output_tokens,
  };
};

const generative: Client = async (url, { stream, withTools }) => {
  const client = new GoogleGenAI({ apiKey: 'mine', httpOptions: { baseUrl: url } });
  const declared = [{ functionDeclarations: [{ name: NAME, parametersJsonSchema: SCHEMA }] }];
  const request = {
    model: 'gemini-fixture-1',
    contents: ASK[0]!.content,
    config: withTools ? { tools: declared } : {},
  };
  const parsed = { text: '', tools: [] as string[], outputTokens: undefined as number | undefined };
  const parts = stream
    ? await client.models.generateContentStream(request)
    : [await client.models.generateContent(request)];
  for await (const part of parts) {
    for (const each of part.candidates?.[0]?.content?.parts ?? []) parsed.text += each.text ?? '';
    parsed.tools.push(...(part.functionCalls ?? []).map((call) => call.name ?? ''));
    parsed.outputTokens = part.usageMetadata?.candidatesTokenCount ?? parsed.outputTokens;
  }
  return parsed;
};

const CLIENTS = { messages: anthropic, chat, responses, generative } as const;
const KINDS = ['messages', 'chat', 'generative'] as const;
const FORMS: readonly Ask[] = [true, false].flatMap((stream) =>
  [true, false].map((withTools) => ({ stream, withTools })),
);

const providerOf =
  (kind: string, more = '') =>
  (url: string) =>
    `routing: { primary: local }
providers:
  local: { kind: ${kind}, base_url: "${url}", auth: none, model_aliases: { claude-fixture-1: qwen }${more} }`;

for (const [name, ask] of Object.entries(CLIENTS)) {
  for (const kind of KINDS.filter((each) => each !== name)) {
    test(`a ${name} client is served by a ${kind} provider`, () =>
      withPair({ yaml: providerOf(kind) }, async (t) => {
        // Detected once, with the first request.
        t.spare.script('/v1/responses', '404');
        const guesses = name === 'responses' && kind === 'chat' ? 1 : 0;
        for (const form of FORMS) {
          const label = `${name} by ${kind}, ${JSON.stringify(form)}`;
          const parsed = await ask(t.proxy.url, form);
          if (form.withTools) assert.equal(parsed.tools, [NAME], label);
          else assert.match(parsed.text, 'Oslo', label);
          assert.ok((parsed.outputTokens ?? 0) > 0, `${label}: usage`);
        }
        assert.is(t.upstream.requests.length, 0);
        assert.is(t.spare.requests.length, FORMS.length + guesses);
        await expectKeyless(t);
        const rows = await t.rows(FORMS.length);
        for (const [i, row] of rows.entries()) {
          const attempts = i === 0 ? 1 + guesses : 1;
          assert.equal([row.outcome, row.provider, row.attempts], ['ok', 'local', attempts]);
          assert.ok((row.outputTokens ?? 0) > 0, `${name} by ${kind}: usage in the ledger`);
        }
      }));
  }
}

async function expectKeyless(t: Pair): Promise<void> {
  for (const request of t.spare.requests) {
    assert.not.match(JSON.stringify(request.rawHeaders), /mine|messages-key|chat-key/);
  }
}

test('an event of any length is translated, also for a client that reads JSON lines', () =>
  withPair({ yaml: providerOf('chat') }, async (t) => {
    const long = 'x'.repeat(1_500_000);
    const pieces = [{ content: long }, { content: '!' }].map((delta) =>
      toEvent({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] }),
    );
    const end = toEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    t.spare.script(
      undefined,
      answer(() => streamAnswer([...pieces, end, toEvent('[DONE]')])),
    );
    const parsed = await anthropic(t.proxy.url, { stream: true, withTools: false });
    assert.is(parsed.text.length, long.length + 1);
    const lines = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body: json(CHAT, { stream: true }),
      headers: { accept: 'application/x-ndjson' },
    });
    assert.is(lines.text.trim().split('\n').length, 3);
    assert.ok(lines.text.includes(long));
  }));

test('a client that asked for a document gets one even from a provider that always streams', () =>
  withPair({ yaml: providerOf('chat') }, async (t) => {
    const chunkOf = (delta: object, finish_reason: string | null = null): Buffer =>
      toEvent({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] });
    const called = { index: 0, id: 'a', function: { name: NAME, arguments: '{"place":"Oslo"}' } };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const pieces = [
      chunkOf({ content: 'I l' }),
      chunkOf({ content: 'ook' }),
      chunkOf({ tool_calls: [called] }),
    ];
    const end = [chunkOf({}, 'tool_calls'), toEvent({ choices: [], usage }), toEvent('[DONE]')];
    const stop = t.spare.script(
      undefined,
      answer(() => streamAnswer([...pieces, ...end])),
    );
    const parsed = await anthropic(t.proxy.url, { stream: false, withTools: true });
    assert.equal(parsed, { text: 'I look', tools: [NAME], outputTokens: 4 });
    const [row] = await t.rows(1);
    assert.equal([row?.outcome, row?.stream, row?.outputTokens], ['ok', false, 4]);
    stop();
    t.spare.script(
      undefined,
      answer(() => streamAnswer(pieces)),
    );
    const thrown = await failureOf(anthropic(t.proxy.url, { stream: false, withTools: true }));
    assert.ok(thrown instanceof Anthropic.InternalServerError, String(thrown));
  }));

test('a document with a byte order mark is translated like one without', () =>
  withPair({ yaml: providerOf('chat') }, async (t) => {
    const body = '\uFEFF{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}';
    t.spare.script(
      undefined,
      answer(() => toAnswer(200, [['Content-Type', 'application/json']], [Buffer.from(body)])),
    );
    const parsed = await anthropic(t.proxy.url, { stream: false, withTools: false });
    assert.is(parsed.text, 'Hi');
  }));

test("errors of a provider of another kind arrive as errors of the client's library", () =>
  withPair({ yaml: providerOf('chat') }, async (t) => {
    t.spare.script(undefined, '400');
    for (const stream of [true, false]) {
      const ask: Ask = { stream, withTools: false };
      const thrown = await failureOf(anthropic(t.proxy.url, ask));
      assert.ok(thrown instanceof Anthropic.BadRequestError, String(thrown));
      assert.match(thrown.message, 'Fixture 400.');
    }
    t.spare.script(undefined, 'reset-mid-body', { atByte: 700 });
    for (const [name, client] of Object.entries(CLIENTS)) {
      if (name === 'chat') continue;
      const thrown = await failureOf(client(t.proxy.url, { stream: true, withTools: false }));
      assert.ok(thrown instanceof Error, `${name} reports that the stream broke off`);
    }
  }));

test('a chat client that did not ask for usage gets none, but the ledger records it', () =>
  withPair({ yaml: providerOf('messages') }, async (t) => {
    const client = new OpenAI({ baseURL: `${t.proxy.url}/v1`, ...CLIENT_OPTIONS });
    const request = { model: 'gpt-fixture-1', messages: ASK, stream: true as const };
    for await (const chunk of await client.chat.completions.create(request)) {
      assert.is(chunk.usage ?? null, null);
      assert.is(chunk.choices.length, 1);
    }
    assert.ok(((await t.rows(1))[0]?.outputTokens ?? 0) > 0);
  }));

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

test.after(closeClients);
test.run();
