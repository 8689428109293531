/** `/why` through a real proxy: which providers were tried and how each responded. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clientKey, withPair, withSpare } from '../../fixtures/forward/pair.ts';
import { answer as answering } from '../../fixtures/upstream.ts';
import { jsonAnswer } from '../../fixtures/upstream/answer.ts';
import { withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/wait.ts';

/** At ten dollars per token nearly any request exceeds the limit. */
const PRICED = `providers:
  messages:
    pricing: { input_cost_per_1m_tokens: 10000000, output_cost_per_1m_tokens: 0 }
budget: { enabled: true, per_request_usd: 100 }
`;

interface Why {
  readonly outcome: string;
  readonly providers: readonly string[];
  readonly cost: string;
}

async function why(t: TestProxy): Promise<Why> {
  const { text } = await exchange(t.proxy.port, { path: '/why/last', method: 'GET' });
  return JSON.parse(text) as Why;
}

test('a limit of svc is explained with its remedy, and says that no provider was called', () =>
  withProxy({ yaml: PRICED }, async (t) => {
    const turn = { ...MESSAGE, messages: [{ role: 'user', content: 'x'.repeat(360) }] };
    assert.is((await exchange(t.proxy.port, { body: json(turn) })).status, 402);
    await t.rows(1);
    const { outcome, providers, cost } = await why(t);
    assert.match(outcome, /^failed \(402\).*run `svc spend allow` to allow it\.$/);
    assert.equal(providers, ['no provider was asked']);
    assert.is(cost, 'nothing: no provider was asked');
  }));

test('the error of a provider is quoted in its own words', () =>
  withProxy({}, async (t) => {
    for (const status of ['400', '529'] as const) {
      const stop = t.upstream.script(undefined, status);
      const response = await exchange(t.proxy.port, { body: json(MESSAGE) });
      stop();
      const { error } = JSON.parse(response.text) as { error: { message: string } };
      await t.rows(status === '400' ? 1 : 2);
      const { providers, cost } = await why(t);
      assert.equal(providers, [`messages: status ${status}: ${error.message}`]);
      assert.is(cost, 'nothing: an error bills nothing');
    }
  }));

test('a message at any usual place of an error is quoted, without the client’s key', () =>
  withProxy({}, async (t) => {
    const text = 'The model is not supported for key-of-the-client';
    const bodies = [
      { detail: text },
      { message: text },
      { error: text },
      { error: { message: text } },
    ];
    for (const [index, body] of bodies.entries()) {
      const stop = t.upstream.script(
        undefined,
        answering(() => jsonAnswer(400, body)),
      );
      const headers = { 'x-api-key': 'key-of-the-client' };
      await exchange(t.proxy.port, { body: json(MESSAGE), headers });
      stop();
      await t.rows(index + 1);
      const { providers } = await why(t);
      assert.equal(providers, ['messages: status 400: The model is not supported for [redacted]']);
    }
  }));

test('names a provider that was called later than configured or not at all, with the reason', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    const rounds: (readonly string[])[] = [];
    const send = async (): Promise<void> => {
      const { status } = await exchange(t.proxy.port, {
        body: json(MESSAGE),
        headers: clientKey('messages'),
      });
      assert.is(status, 200);
      await t.rows(rounds.length + 1);
      rounds.push((await why(t)).providers);
    };
    const stop = t.upstream.script(undefined, '500');
    for (let n = 0; n < 4; n += 1) await send();
    stop();
    const [first, , , fourth] = rounds;
    assert.match(first?.[0] ?? '', /^messages: status 500/);
    assert.equal(fourth, [
      'messages: asked later: unhealthy: 3 requests in a row failed',
      'spare: status 200',
    ]);
    t.proxy.services.states.forceHealth('messages', 'healthy');
    t.proxy.services.states.forceHealth('messages', 'unhealthy');
    await send();
    assert.is(rounds.at(-1)?.[0], 'messages: asked later: set to unhealthy by hand');
  }));

test('names a fallback that could not be used after the first provider failed', () =>
  withProxy(
    {
      yaml: 'providers:\n  bare: { kind: chat, base_url: "http://127.0.0.1:9/v1" }\nfallback: [bare]\n',
    },
    async (t) => {
      const stop = t.upstream.script(undefined, '500');
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      stop();
      await t.rows(1);
      const [asked, unused] = (await why(t)).providers;
      assert.match(asked ?? '', /^messages: status 500/);
      assert.is(unused, 'bare: no fallback here: it has no key');
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      await t.rows(2);
      assert.equal((await why(t)).providers, ['messages: status 200']);
    },
  ));

test('the cost is unknown if a provider broke off without a response', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, 'reset-before-head');
    t.spare.script(undefined, '400');
    const { status } = await exchange(t.proxy.port, {
      body: json(MESSAGE),
      headers: clientKey('messages'),
    });
    assert.ok(status >= 400);
    await t.rows(1);
    assert.is((await why(t)).cost, 'not known');
  }));

test('explains a request whose client left before the provider responded', () =>
  withProxy({}, async (t) => {
    const stop = t.upstream.script(undefined, 'stall-before-head');
    const client = new AbortController();
    const left = exchange(t.proxy.port, { body: json(MESSAGE), signal: client.signal });
    await until('the request arrives', () => t.upstream.requests.length > 0);
    client.abort();
    await left.catch(() => undefined);
    await t.rows(1);
    stop();
    const { outcome, providers } = await why(t);
    assert.match(outcome, 'the client left');
    assert.equal(providers, ['messages: had not answered when the client left']);
  }));

test('explains a response that is not billed, and one without usage', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const json200 = (answer: object) =>
      upstream.answer((response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      });
    json200({ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5', output: [] });
    await exchange(t.proxy.port, { method: 'GET', path: '/v1/responses/resp_1' });
    await t.rows(1);
    assert.is((await why(t)).cost, 'nothing: its answer bills nothing');
    json200({ object: 'chat.completion', model: 'gpt-5', choices: [] });
    const body = json(CHAT, { model: 'gpt-5' });
    await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
    await t.rows(2);
    assert.is((await why(t)).cost, 'no price for unreported usage of gpt-5');
  }));

test.after(closeClients);
test.run();
