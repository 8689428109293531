/** The client adapters against the real proxy: every method and error, streaming and not. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import {
  AgentFrameworkAdapter,
  ChatCompletionsAdapter,
  MessagesAdapter,
  MultiProviderAdapter,
  SvcAdapter,
  SvcAdapterError,
  SvcAuthError,
  SvcConfigError,
  SvcTimeoutError,
} from './index.ts';
import type { AdapterOptions, JsonObject, MessagesRequest, MultiProviderRequest } from './index.ts';

const ASK = [{ role: 'user', content: 'Say hello.' }];
const MESSAGES: MessagesRequest = { model: 'claude-fixture-1', max_tokens: 64, messages: ASK };
const CHAT = { model: 'gpt-fixture-1', messages: ASK };

async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
}

async function expectError(
  work: () => unknown,
  type: new (message: string) => SvcAdapterError,
  message: RegExp,
): Promise<SvcAdapterError> {
  const thrown = await thrownBy(work);
  assert.instance(thrown, type);
  assert.instance(thrown, SvcAdapterError);
  assert.is((thrown as Error).name, type.name);
  assert.match((thrown as Error).message, message);
  return thrown as SvcAdapterError;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test('messages: every step of a call works under both of its names', () =>
  withProxy({}, async (t) => {
    const adapter = new MessagesAdapter({ baseUrl: t.proxy.url, apiKey: 'mine' });
    assert.instance(adapter, SvcAdapter);
    const message = await adapter.call(MESSAGES);
    assert.match(message.content[0]?.text ?? '', /Say hello/);
    const [received] = t.upstream.requests;
    assert.is(received?.header('x-api-key'), 'mine');
    assert.is(received?.header('anthropic-version'), '2023-06-01');
    assert.equal(JSON.parse(received?.body.toString() ?? ''), { stream: false, ...MESSAGES });

    const prepared = adapter.prepare_request(MESSAGES);
    assert.equal(prepared, adapter.prepareRequest(MESSAGES));
    assert.is(prepared['stream'], false);
    assert.not.ok('stream' in MESSAGES, "the caller's request object is not changed");
    const raw = await adapter.send(prepared);
    assert.equal(adapter.parse_response(raw), raw);
    const tokens = adapter.extract_tokens(raw);
    assert.equal(tokens, adapter.extractTokens(raw));
    assert.equal(Object.keys(tokens), [
      'input_tokens',
      'output_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
    ]);
    assert.ok((tokens.input_tokens ?? 0) > 0 && (tokens.output_tokens ?? 0) > 0);
  }));

test('a step overridden under either name is used by calls, streams and language models', () =>
  withProxy({}, async (t) => {
    const options = { baseUrl: t.proxy.url, apiKey: 'mine' };
    const steps: string[] = [];
    class Specified extends AgentFrameworkAdapter {
      override prepare_request(request: MultiProviderRequest) {
        steps.push('prepare');
        return { ...super.prepare_request(request), metadata: { user_id: 'specified' } };
      }
      override send(...given: Parameters<AgentFrameworkAdapter['send']>) {
        steps.push('send');
        return super.send(...given);
      }
      override parse_response(response: JsonObject) {
        steps.push('parse');
        return super.parse_response(response);
      }
      override extract_tokens(response: JsonObject) {
        steps.push('tokens');
        return super.extract_tokens(response);
      }
    }
    class Spelled extends AgentFrameworkAdapter {
      override prepareRequest(request: MultiProviderRequest) {
        steps.push('prepare');
        return { ...super.prepareRequest(request), metadata: { user_id: 'spelled' } };
      }
      override send(...given: Parameters<AgentFrameworkAdapter['send']>) {
        steps.push('send');
        return super.send(...given);
      }
      override parseResponse(response: JsonObject) {
        steps.push('parse');
        return super.parseResponse(response);
      }
      override extractTokens(response: JsonObject) {
        steps.push('tokens');
        return super.extractTokens(response);
      }
    }
    for (const adapter of [new Specified(options), new Spelled(options)]) {
      steps.length = 0;
      const response = await adapter.call(MESSAGES);
      assert.equal(steps, ['prepare', 'send', 'parse']);
      assert.equal(
        adapter.extractTokens(response),
        new MessagesAdapter(options).extractTokens(response),
      );
      steps.length = 0;
      await collect(adapter.stream(MESSAGES));
      await collect(adapter.streamText(MESSAGES));
      assert.equal(steps, ['prepare', 'prepare']);
      steps.length = 0;
      const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
      await adapter.languageModel('claude-fixture-1').doGenerate({ prompt, maxOutputTokens: 9 });
      assert.equal(steps, ['prepare', 'send', 'parse', 'tokens']);
    }
    const marks = t.upstream.requests.map(
      ({ body }) => /specified|spelled/.exec(body.toString())?.[0],
    );
    assert.equal(marks, [...Array(4).fill('specified'), ...Array(4).fill('spelled')]);
  }));

test('chat: returns the response, and counts cached tokens apart from the others', () =>
  withProxy({}, async (t) => {
    const adapter = new ChatCompletionsAdapter({ base_url: `${t.proxy.url}/v1/`, api_key: 'mine' });
    const response = await adapter.call(CHAT);
    assert.match(String(response.choices[0]?.message['content']), /Say hello/);
    assert.is(t.upstream.requests[0]?.header('authorization'), 'Bearer mine');
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 60 },
    };
    assert.equal(adapter.extractTokens({ usage }), {
      input_tokens: 40,
      output_tokens: 7,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: null,
    });
    assert.is(adapter.extractTokens({}).input_tokens, null, 'unmeasured is null');
  }));

test('streams yield events or text in both dialects', () =>
  withProxy({}, async (t) => {
    const options = { baseUrl: t.proxy.url, apiKey: 'mine' };
    const messages = new MessagesAdapter(options);
    const events = await collect(messages.stream(MESSAGES));
    assert.is(events[0]?.['type'], 'message_start');
    assert.is(events.at(-1)?.['type'], 'message_stop');
    assert.match((await collect(messages.streamText(MESSAGES))).join(''), /^You said: Say hello/);
    const chat = new ChatCompletionsAdapter(options);
    const pieces = await collect(chat.stream_text(CHAT));
    assert.match(pieces.join(''), /^You said: Say hello/);
    assert.ok(pieces.length > 1, 'piece by piece');
  }));

test('leaving a stream early cancels the request', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'events', { count: 200, everyMs: 5 });
    const adapter = new MessagesAdapter({ baseUrl: t.proxy.url, apiKey: 'mine' });
    for await (const text of adapter.streamText(MESSAGES)) if (text !== '') break;
    const [row] = await t.rows(1);
    assert.is(row?.outcome, 'cancelled');
  }));

test('multi: the model selects the dialect, and each dialect has its own key', () =>
  withProxy({}, async (t) => {
    const apiKeys = { chat: 'chat-of-mine' };
    const adapter = new MultiProviderAdapter({ baseUrl: t.proxy.url, apiKey: 'mine', apiKeys });
    const claude = await adapter.call({ model: 'claude-fixture-1', messages: ASK });
    assert.is(claude['type'], 'message');
    assert.ok((adapter.extractTokens(claude).output_tokens ?? 0) > 0);
    const gpt = await adapter.call(CHAT);
    assert.ok(Array.isArray(gpt['choices']));
    assert.ok((adapter.extractTokens(gpt).output_tokens ?? 0) > 0);
    await adapter.call({ model: 'house-model', dialect: 'messages', messages: ASK, max_tokens: 9 });
    assert.equal(
      t.upstream.requests.map((request) => request.path),
      ['/v1/messages', '/v1/chat/completions', '/v1/messages'],
    );
    assert.is(t.upstream.requests[1]?.header('authorization'), 'Bearer chat-of-mine');
    assert.is(t.upstream.requests[2]?.header('x-api-key'), 'mine');
    const sent: unknown = JSON.parse(t.upstream.requests[2]?.body.toString() ?? '');
    assert.equal(sent, { stream: false, model: 'house-model', messages: ASK, max_tokens: 9 });
    for (const model of ['claude-fixture-1', 'gpt-fixture-1']) {
      const text = (await collect(adapter.streamText({ model, messages: ASK }))).join('');
      assert.match(text, /^You said: Say hello/, model);
    }
  }));

test('invalid options and requests throw config errors, and nothing is sent', () =>
  withProxy({}, async (t) => {
    const options: AdapterOptions = { baseUrl: t.proxy.url, apiKey: 'mine' };
    const wrong: readonly [AdapterOptions, RegExp][] = [
      [{ apiKey: 'x' }, /baseUrl is required/],
      [{ baseUrl: 'localhost:8766', apiKey: 'x' }, /must begin with http/],
      [{ baseUrl: 'nonsense', apiKey: 'x' }, /is not a URL/],
      [{ baseUrl: t.proxy.url }, /apiKey is required/],
      [{ ...options, apiKey: 'two words' }, /without spaces/],
      [{ ...options, timeoutS: 0 }, /timeoutS must be/],
      [{ ...options, timeout_s: Number.NaN }, /timeoutS must be/],
    ];
    for (const [each, message] of wrong)
      await expectError(() => new AgentFrameworkAdapter(each), SvcConfigError, message);
    const messages = new MessagesAdapter(options);
    const requests: readonly [object, RegExp][] = [
      [{ messages: ASK, max_tokens: 1 }, /Missing required field: model/],
      [{ model: 'm', max_tokens: 1 }, /Missing required field: messages/],
      [{ model: 'm', messages: ASK }, /Missing required field: max_tokens/],
      [{ model: 'm', messages: [], max_tokens: 1 }, /must contain a message/],
      [{ model: 'm', messages: 'hi', max_tokens: 1 }, /must be a list/],
      [{ model: 'm', messages: [{}], max_tokens: 1 }, /messages\[0\]/],
      [
        { model: 'm', messages: [...ASK, { role: 'user' }], max_tokens: 1 },
        /messages\[1\] must have content/,
      ],
      [{ model: '', messages: ASK, max_tokens: 1 }, /'model'/],
      [{ model: 'm', messages: ASK, max_tokens: 1.5 }, /'max_tokens'/],
    ];
    for (const none of [null, undefined, [], 'hi'])
      await expectError(
        () => messages.call(none as unknown as MessagesRequest),
        SvcConfigError,
        /must be an object/,
      );
    for (const [each, message] of requests)
      await expectError(() => messages.call(each as MessagesRequest), SvcConfigError, message);
    await expectError(
      () => collect(messages.stream({ messages: ASK } as unknown as MessagesRequest)),
      SvcConfigError,
      /model/,
    );
    await expectError(
      () => messages.send({ ...MESSAGES, stream: true }),
      SvcConfigError,
      /use stream\(\)/,
    );
    const circular: Record<string, unknown> = { ...MESSAGES };
    circular['metadata'] = circular;
    await expectError(() => messages.send(circular), SvcConfigError, /JSON/);
    assert.is(t.upstream.requests.length, 0);
  }));

test('401 and 403 throw auth errors, and all errors carry status, code and request id', () =>
  withProxy(
    { yaml: 'security: { require_api_key: true, api_key: let-me-in-please }' },
    async (t) => {
      const options = { baseUrl: t.proxy.url, apiKey: 'mine' };
      const refused = await expectError(
        () => new MessagesAdapter(options).call(MESSAGES),
        SvcAuthError,
        /401/,
      );
      assert.is(refused.statusCode, 401);
      assert.is(refused.status_code, 401);
      assert.ok(refused.requestId);
      const adapter = new MessagesAdapter({ ...options, proxyKey: 'let-me-in-please' });
      await adapter.call(MESSAGES);
      for (const [status, type] of [
        [403, SvcAuthError],
        [429, SvcAdapterError],
        [500, SvcAdapterError],
        [504, SvcTimeoutError],
      ] as const) {
        t.upstream.script(undefined, 'status', { status });
        for (const work of [
          () => adapter.call(MESSAGES),
          () => collect(adapter.stream(MESSAGES)),
        ]) {
          const error = await expectError(work, type, /HTTP/);
          assert.is(error.statusCode, status);
        }
      }
    },
  ));

test('connection failures and invalid responses never throw an error of the HTTP library', () =>
  withProxy({}, async (t) => {
    const options = { baseUrl: t.proxy.url, apiKey: 'mine', timeoutS: 0.3 };
    const adapter = new MessagesAdapter(options);
    const closed = await startUpstream();
    await closed.close();
    const nobody = new MessagesAdapter({ ...options, baseUrl: closed.url });
    const gone = await expectError(() => nobody.call(MESSAGES), SvcAdapterError, /svc start/);
    assert.is(gone.statusCode, null);
    assert.is(gone.code, 'ECONNREFUSED');
    t.upstream.script(undefined, 'stall-before-head');
    await expectError(() => adapter.call(MESSAGES), SvcTimeoutError, /within 0.3 s/);
    await expectError(() => collect(adapter.stream(MESSAGES)), SvcTimeoutError, /within 0.3 s/);
    t.upstream.script(undefined, 'stall-mid-body');
    await expectError(() => collect(adapter.stream(MESSAGES)), SvcTimeoutError, /within 0.3 s/);
    t.upstream.script(undefined, 'error-event');
    await expectError(() => collect(adapter.stream(MESSAGES)), SvcAdapterError, /./);
    t.upstream.script(undefined, 'reset-mid-body');
    await expectError(() => collect(adapter.stream(MESSAGES)), SvcAdapterError, /./);
    t.upstream.script(undefined, 'html-error');
    await expectError(() => adapter.call(MESSAGES), SvcAdapterError, /./);
  }));

test('the time that the consumer takes does not count towards the timeout', () =>
  withProxy({}, async (t) => {
    const adapter = new MessagesAdapter({ baseUrl: t.proxy.url, apiKey: 'mine', timeoutS: 1 });
    t.upstream.script(undefined, 'events', { count: 3, everyMs: 1 });
    let count = 0;
    for await (const text of adapter.streamText(MESSAGES)) {
      if (text !== '') count += 1;
      if (count === 1) await new Promise((resolve) => setTimeout(resolve, 1250));
    }
    assert.is(count, 3);
  }));

test('an aborted call throws the reason of its signal', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    const adapter = new MessagesAdapter({ baseUrl: t.proxy.url, apiKey: 'mine' });
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    const { signal } = controller;
    assert.is(await thrownBy(() => adapter.call(MESSAGES, { signal })), reason);
    assert.is(await thrownBy(() => collect(adapter.stream(MESSAGES, { signal }))), reason);
  }));

test('parseResponse refuses a response of another shape', async () => {
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: 'mine' };
  const messages = new MessagesAdapter(options);
  await expectError(() => messages.parseResponse({ choices: [] }), SvcAdapterError, /messages/);
  const chat = new ChatCompletionsAdapter(options);
  await expectError(() => chat.parseResponse({ type: 'message' }), SvcAdapterError, /chat/);
});

test('options can be read under both of their names, for example by a subclass', () => {
  class Own extends SvcAdapter {
    keys(): string[] {
      return [this.apiKey, this.api_key];
    }
  }
  const given = { base_url: 'http://127.0.0.1:8766/', api_key: 'mine' };
  const own = new Own(given);
  assert.equal(own.keys(), ['mine', 'mine']);
  assert.equal(
    [own.base_url, own.baseUrl, own.timeout_s, own.timeoutS],
    ['http://127.0.0.1:8766', 'http://127.0.0.1:8766', 120, 120],
  );
});

test('a request that is not an object and a subclass without a dialect throw adapter errors', async () => {
  const options = { base_url: 'http://127.0.0.1:9', api_key: 'mine' };
  const all = [
    MessagesAdapter,
    ChatCompletionsAdapter,
    MultiProviderAdapter,
    AgentFrameworkAdapter,
  ];
  for (const Adapter of all) {
    const adapter = new Adapter(options);
    for (const nothing of [null, undefined, 'text', []] as never[]) {
      const request = /request must be an object/;
      await expectError(() => new Adapter(nothing), SvcConfigError, /options must be|is required/);
      await expectError(() => adapter.prepare_request(nothing), SvcConfigError, request);
      await expectError(() => adapter.send(nothing), SvcConfigError, request);
      await expectError(() => adapter.call(nothing), SvcConfigError, request);
      await expectError(() => collect(adapter.stream(nothing)), SvcConfigError, request);
      const answer = /answer is not a JSON object/;
      await expectError(() => adapter.parse_response(nothing), SvcAdapterError, answer);
      await expectError(() => adapter.extract_tokens(nothing), SvcAdapterError, answer);
    }
  }
  class Bare extends SvcAdapter {}
  const bare = new Bare(options);
  const none = /^Bare names no dialect: extend MessagesAdapter/;
  await expectError(() => bare.call(MESSAGES), SvcConfigError, none);
  await expectError(() => bare.send({ ...MESSAGES }), SvcConfigError, none);
  await expectError(() => bare.extract_tokens({ usage: {} }), SvcConfigError, none);
});

test.run();
