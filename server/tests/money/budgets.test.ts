/**
 * Estimates that limits use, charges for responses whose client left, and implausible usage
 * figures.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

/** One dollar per thousand input tokens, ten per thousand output tokens. */
const PRICES = 'pricing: { input_cost_per_1m_tokens: 1000, output_cost_per_1m_tokens: 10000 }';
const priced = (limits: string, more = ''): string => `providers:
  messages: { ${PRICES} }
  chat: { ${PRICES} }
  generative: { ${PRICES} }
budget: { enabled: true, ${limits} }
${more}`;

const TEXT = 'a line of text that is long enough to be charged for. '.repeat(200);
const GENERATE = '/v1beta/models/gemini-fixture-1:generateContent';

/** A request in each dialect that allows `max` output tokens. */
const BODIES: Readonly<Record<string, (max: number) => object>> = {
  '/v1/messages': (max) => ({
    ...MESSAGE,
    max_tokens: max,
    messages: [{ role: 'user', content: TEXT }],
  }),
  '/v1/chat/completions': (max) => ({
    ...CHAT,
    max_completion_tokens: max,
    messages: [{ role: 'user', content: TEXT }],
  }),
  '/v1/responses': (max) => ({ model: 'gpt-fixture-1', max_output_tokens: max, input: TEXT }),
  [GENERATE]: (max) => ({
    contents: [{ role: 'user', parts: [{ text: TEXT }] }],
    generationConfig: { maxOutputTokens: max },
  }),
};

const spent = ({ proxy }: TestProxy): number => proxy.services.spending.view().spentTodayNanoUsd;
const heldNanoUsd = ({ proxy }: TestProxy): number => proxy.services.spending.view().heldNanoUsd;

const post = (t: TestProxy, path: string, body: object, signal?: AbortSignal) =>
  exchange(t.proxy.port, { path, body: json(body), ...(signal && { signal }) });

test("the estimate uses every limit on output, under each dialect's name for it", () =>
  withProxy({ yaml: priced('per_request_usd: 100') }, async (t) => {
    for (const [path, bodyOf] of Object.entries(BODIES)) {
      assert.is((await post(t, path, bodyOf(100))).status, 200, path);
      const refused = await post(t, path, bodyOf(50_000));
      assert.is(refused.status, 402, path);
      assert.match(refused.text, /estimated at \$50\d\./, path);
    }
    const several = await post(t, '/v1/chat/completions', {
      ...BODIES['/v1/chat/completions']!(5000),
      n: 4,
    });
    assert.match(several.text, /estimated at \$20\d\./);
    const without = await post(t, '/v1/chat/completions', CHAT);
    assert.match(without.text, /estimated at \$1280\./, 'as many tokens as a model generates');
    assert.match((await post(t, '/v1/completions', { model: 'm', prompt: 'x' })).text, /\$1280\./);
    assert.is(spent(t) < 100e9, true);
  }));

test('many concurrent requests together cannot exceed a limit', () =>
  withProxy({ yaml: priced('per_day_usd: 100') }, async (t) => {
    const body = BODIES['/v1/messages']!(3000);
    const all = await Promise.all(Array.from({ length: 24 }, () => post(t, '/v1/messages', body)));
    const passed = all.filter(({ status }) => status === 200).length;
    assert.ok(passed >= 1, `${passed} passed`);
    await t.rows(24);
    assert.is(heldNanoUsd(t), 0);
    assert.ok(spent(t) <= 100e9, `${spent(t)}`);
  }));

/** Sends `count` requests whose client leaves once the upstream has received them whole. */
async function leave(
  t: TestProxy,
  received: (onRequest: (response: ServerResponse) => void) => void,
  path: string,
  body: object,
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const client = new AbortController();
    received(() => client.abort());
    const left = await post(t, path, body, client.signal).then(
      () => undefined,
      (error: Error) => error.name,
    );
    assert.is(left, 'AbortError');
  }
}

test('a client that disconnects before the head pays if the provider received the whole request', () =>
  withPlainUpstream({ yaml: priced('per_day_usd: 100000') }, async (t, upstream) => {
    const received = (then: (response: ServerResponse) => void) => upstream.answer(then);
    let count = 0;
    for (const [path, bodyOf] of Object.entries(BODIES)) {
      const before = spent(t);
      await leave(t, received, path, bodyOf(1000), 5);
      count += 5;
      const rows = (await t.rows(count)).slice(-5);
      for (const row of rows) {
        assert.is(row.outcome, 'cancelled', path);
        assert.ok((row.inputTokensSent ?? 0) > 1000, path);
        assert.ok((row.costNanoUsd ?? 0) >= 1e9, `${path}: ${row.costNanoUsd}`);
        assert.is(row.usageEstimated, true);
        assert.is(row.savedTokens, null);
      }
      const sum = rows.reduce((all, row) => all + (row.costNanoUsd ?? 0), 0);
      assert.is(spent(t) - before, sum, path);
    }
    const stream = { ...BODIES['/v1/messages']!(1000), stream: true };
    await leave(t, received, '/v1/messages', stream, 1);
    const streamed = (await t.rows(count + 1)).at(-1);
    assert.is(streamed?.outputTokens, 0);
    assert.is(heldNanoUsd(t), 0);
  }));

test('a client that disconnects in the middle of a document pays for it, too', () =>
  withPlainUpstream({ yaml: priced('per_day_usd: 100000') }, async (t, upstream) => {
    const received = (then: (response: ServerResponse) => void) =>
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"type":"message",', () => setImmediate(() => then(response)));
      });
    await leave(t, received, '/v1/messages', BODIES['/v1/messages']!(1000), 3);
    for (const row of await t.rows(3))
      assert.ok((row.costNanoUsd ?? 0) >= 1e9, `${row.costNanoUsd}`);
    assert.ok(spent(t) >= 3e9);
  }));

test('a provider that times out before its head is charged, with and without a fallback', () =>
  withPlainUpstream(
    {
      yaml: priced('per_day_usd: 100000', 'advanced: { proxy_timeout_seconds: 1 }\n'),
    },
    async (t, upstream) => {
      upstream.answer(() => undefined);
      const timedOut = await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
      assert.is(timedOut.status, 504);
      const [row] = await t.rows(1);
      assert.is(row?.outcome, 'error');
      assert.ok((row?.costNanoUsd ?? 0) >= 1e9);
      assert.is(spent(t), row?.costNanoUsd);

      t.configure(
        priced(
          'per_day_usd: 100000',
          'advanced: { proxy_timeout_seconds: 1 }\nrouting: { fallback: [chat] }\n',
        ),
      );
      assert.is((await exchange(t.proxy.port, { path: '/config/reload' })).status, 200);
      const before = spent(t);
      upstream.answer((response: ServerResponse, request: IncomingMessage) => {
        if (request.url === '/v1/messages') return;
        const message = { role: 'assistant', content: 'x' };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          json({
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage: { prompt_tokens: 2000, completion_tokens: 1 },
          }),
        );
      });
      const served = await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
      assert.is(served.status, 200, served.text);
      const answered = (await t.rows(2)).at(-1);
      assert.ok(spent(t) - before >= (answered?.costNanoUsd ?? 0) + 1e9);
    },
  ));

test('a request that the provider did not receive, or refused, costs nothing', async () => {
  const yaml = priced('per_day_usd: 100000');
  await withPlainUpstream({ yaml }, async (t, upstream) => {
    for (const status of [400, 429, 500, 529]) {
      upstream.answer((response) => response.writeHead(status).end('{"error":{}}'));
      await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
    }
    upstream.answer((response) => response.socket?.destroy());
    await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
    await t.rows(5);
    assert.is(spent(t), 0);
  });
  // This server accepts connections and never reads.
  const silentServer = createServer((socket) => void socket.pause().on('error', () => undefined));
  await once(silentServer.listen(0, '127.0.0.1'), 'listening');
  const address = silentServer.address();
  const env = {
    MSGPROV_BASE_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
  };
  silentServer.close();
  await withProxy({ yaml, env }, async (t) => {
    const refused = await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
    assert.ok(refused.status >= 500, `${refused.status}`);
    await t.rows(1);
    assert.is(spent(t), 0);
  });
});

/** A response in each dialect that claims `input` and `output` tokens. */
const CLAIMS: Readonly<Record<string, (input: number, output: number) => object>> = {
  '/v1/messages': (input, output) => ({
    type: 'message',
    role: 'assistant',
    model: 'claude-fixture-1',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: input, output_tokens: output },
  }),
  '/v1/chat/completions': (input, output) => ({
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  }),
  '/v1/responses': (input, output) => ({
    object: 'response',
    status: 'completed',
    output: [],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  }),
  [GENERATE]: (input, output) => ({
    candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
  }),
};

const document =
  (body: object) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(json(body));
  };

test('figures beyond what request and model allow are noted and not charged', () =>
  withPlainUpstream({ yaml: priced('per_day_usd: 100000') }, async (t, upstream) => {
    let count = 0;
    for (const [path, claimsOf] of Object.entries(CLAIMS)) {
      for (const [input, output] of [
        [1e15, 1],
        [3000, 1e15],
        [1e9, 1e9],
        [5_000_000, 5],
        [3000, 5_000_000],
      ] as const) {
        const before = spent(t);
        upstream.answer(document(claimsOf(input, output)));
        assert.is((await post(t, path, BODIES[path]!(1000))).status, 200);
        count += 1;
        const row = (await t.rows(count)).at(-1);
        assert.ok(spent(t) - before < 30e9, `${path} ${input} ${output}: ${spent(t) - before}`);
        assert.ok(spent(t) > before, 'it costs something too');
        assert.is(row?.usageEstimated, true, `${path} ${input} ${output}`);
        const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/trace/last' });
        assert.match(text, /"usage_corrected":\s*true/);
      }
    }
    const cached = { input_tokens: 1, cache_read_input_tokens: 1e12, output_tokens: 1 };
    upstream.answer(document({ ...CLAIMS['/v1/messages']!(1, 1), usage: cached }));
    const before = spent(t);
    await post(t, '/v1/messages', BODIES['/v1/messages']!(1000));
    await t.rows(count + 1);
    assert.ok(spent(t) - before < 20e9);
    upstream.answer(
      streamOf(
        {
          type: 'message_start',
          message: {
            role: 'assistant',
            content: [],
            usage: { input_tokens: 1e12, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: 'four words are here' },
        },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { output_tokens: 1e12 },
        },
        { type: 'message_stop' },
      ),
    );
    await post(t, '/v1/messages', { ...BODIES['/v1/messages']!(1000), stream: true });
    const streamed = (await t.rows(count + 2)).at(-1);
    assert.ok((streamed?.outputTokens ?? 0) < 100, `${streamed?.outputTokens}`);
  }));

test('figures that a request can have caused are accepted, however large', () =>
  withPlainUpstream({ yaml: priced('per_day_usd: 100000000') }, async (t, upstream) => {
    const messages = BODIES['/v1/messages']!(64_000);
    const image = {
      role: 'user',
      content: [{ type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } }],
    };
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const cases: readonly (readonly [string, object, number, number])[] = [
      ['/v1/messages', messages, 20_000, 64_000],
      ['/v1/messages', { ...messages, tools: [search] }, 900_000, 64_000],
      ['/v1/messages', { ...messages, messages: [image] }, 300_000, 10],
      [
        '/v1/messages',
        { ...MESSAGE, messages: [{ role: 'user', content: 'a b '.repeat(100_000) }] },
        200_000,
        10,
      ],
      [
        '/v1/responses',
        { ...BODIES['/v1/responses']!(100), previous_response_id: 'r' },
        390_000,
        100,
      ],
      ['/v1/chat/completions', CHAT, 30, 120_000],
      ['/v1/chat/completions', { ...CHAT, n: 8, max_tokens: 9000 }, 30, 72_000],
    ];
    for (const [index, [path, body, input, output]] of cases.entries()) {
      upstream.answer(document(CLAIMS[path]!(input, output)));
      assert.is((await post(t, path, body)).status, 200, path);
      const row = (await t.rows(index + 1)).at(-1);
      assert.equal([row?.inputTokensSent, row?.outputTokens], [input, output], `case ${index}`);
      assert.is(row?.usageEstimated, false, `case ${index}`);
    }
  }));

test.after(closeClients);
test.run();
