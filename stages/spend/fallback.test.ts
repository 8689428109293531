/** A fallback provider keeps to the spending limits as well, at its own price. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { bodyOf, traceOf, withPair } from '../../fixtures/forward/pair.ts';
import type { Pair, PairOptions } from '../../fixtures/forward/pair.ts';

const MESSAGES = { path: '/v1/messages', body: bodyOf('messages', false) };
const EXPENSIVE_USD = 1_000_000;

/** Two providers, at `first` and `second` dollars per million input tokens. */
function priced(first: number, second: number, limits: string): PairOptions['yaml'] {
  const at = (usd: number): string =>
    `pricing: { input_cost_per_1m_tokens: ${usd}, output_cost_per_1m_tokens: 0 }`;
  return (url) => `providers:
  messages: { ${at(first)} }
  spare: { kind: messages, base_url: "${url}", api_key: spare-key, ${at(second)} }
fallback: [spare]
budget: { enabled: true, ${limits} }
`;
}

const send = (t: Pair, headers: Record<string, string> = {}) =>
  exchange(t.proxy.port, { ...MESSAGES, headers });

test('an expensive fallback is not used if it exceeds the limit per request', () =>
  withPair({ yaml: priced(1, EXPENSIVE_USD, 'per_request_usd: 1') }, async (t) => {
    assert.is((await send(t)).status, 200, 'the cheap one serves it');
    const stop = t.upstream.script(undefined, '529');
    const response = await send(t);
    assert.is(response.status, 529);
    assert.is(t.spare.requests.length, 0);
    const { attempts } = await traceOf(t, response);
    assert.match(attempts[1]?.failure ?? '', /^skipped: Spending limit of \$1\.00 per request/);
    const { spending } = t.proxy.services;
    assert.is(spending.view().blocked, 1);
    assert.is((await send(t, { 'x-svc-allow-spend': 'once' })).status, 200, 'allowed once');
    stop();
    await t.rows(3);
    assert.is(spending.view().heldNanoUsd, 0);
  }));

test('a fallback that cannot be called uses up no allowance', () =>
  withPair({ yaml: priced(1, EXPENSIVE_USD, 'per_request_usd: 1') }, async (t) => {
    const { spending, states } = t.proxy.services;
    const { breaker } = states.get('spare')!;
    while (!breaker.isOpen()) {
      const pass = breaker.tryEnter();
      if (pass.ok) pass.settle('failed');
    }
    spending.allowNext();
    const stop = t.upstream.script(undefined, '529');
    const refused = await send(t);
    assert.is(refused.status, 529);
    assert.is(
      (await traceOf(t, refused)).attempts[1]?.failure,
      'not asked: its circuit breaker is open',
    );
    breaker.reset();
    assert.is((await send(t)).status, 200, 'the allowance is still available');
    assert.is((await send(t)).status, 529, 'the allowance was for one request');
    stop();
    await t.rows(3);
    assert.is(spending.view().heldNanoUsd, 0);
  }));

test('a fallback that is too expensive does not wait in the queue for its pace', () => {
  const expensive = priced(1, EXPENSIVE_USD, 'per_request_usd: 1');
  const yaml: PairOptions['yaml'] = (url) =>
    `${expensive(url)}rate_limiting: { spare: { rpm: 1 } }\n`;
  return withPair({ yaml }, async (t) => {
    const { pace } = t.proxy.services.states.get('spare')!;
    await pace?.enter(new AbortController().signal);
    t.upstream.script(undefined, '529');
    const timeout = AbortSignal.timeout(120_000);
    const response = await exchange(t.proxy.port, { ...MESSAGES, signal: timeout });
    assert.is(response.status, 529);
    assert.match(
      (await traceOf(t, response)).attempts[1]?.failure ?? '',
      /^skipped: Spending limit/,
    );
    await t.rows(1);
    assert.is(t.proxy.services.spending.view().blocked, 1);
  });
});

test('the failure of the called provider is reported, not the limit that blocks the fallback', () =>
  withPair({ yaml: priced(1, EXPENSIVE_USD, 'per_request_usd: 1') }, async (t) => {
    const body = bodyOf('messages', false, { model: 'm' });
    t.upstream.script(undefined, 'reset-before-head');
    const response = await exchange(t.proxy.port, { path: '/v1/messages', body });
    assert.is(response.status, 502, 'the first provider was called');
    assert.is(t.spare.requests.length, 0);
  }));

test("the amount held is the price of the provider that is called, and an expensive first one's is released", () =>
  withPair({ yaml: priced(EXPENSIVE_USD, 1, 'per_day_usd: 1000') }, async (t) => {
    t.upstream.script(undefined, '529');
    t.spare.script(undefined, 'stall-before-head');
    const leave = new AbortController();
    const next = t.spare.nextRequest();
    const response = exchange(t.proxy.port, { ...MESSAGES, signal: leave.signal });
    await next;
    const { spending } = t.proxy.services;
    const held = spending.view().heldNanoUsd;
    assert.ok(held > 0 && held < 1e6, String(held));
    leave.abort();
    await response.catch(() => undefined);
    await t.rows(1);
    const { heldNanoUsd, spentTodayNanoUsd } = spending.view();
    assert.is(heldNanoUsd, 0);
    // The last provider received the complete request, at its own price.
    assert.ok(spentTodayNanoUsd > 0 && spentTodayNanoUsd < 1e6, String(spentTodayNanoUsd));
  }));

test('another model of the same provider is charged at its own price', () =>
  withPair(
    {
      yaml: () => `fallback: [messages/claude-opus-4-1]
budget: { enabled: true, per_request_usd: 0.001 }
`,
    },
    async (t) => {
      t.upstream.script(undefined, '529');
      const body = bodyOf('messages', false, { model: 'claude-3-5-haiku-latest', max_tokens: 100 });
      const response = await exchange(t.proxy.port, { path: '/v1/messages', body });
      assert.is(response.status, 529);
      assert.is(t.upstream.requests.length, 1);
    },
  ));

test.after(closeClients);
test.run();
