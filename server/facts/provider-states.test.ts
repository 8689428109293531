import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { isSvcError } from '../../engine/index.ts';
import { forceHealth, statesJson } from './provider-states.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly circuit_breakers: {
    readonly any_open: boolean;
    readonly providers: Readonly<Record<string, unknown>>;
  };
}

test('/health shows an open breaker, which an operator can close', () =>
  withProxy({}, async (t) => {
    const { states } = t.proxy.services;
    t.upstream.script(undefined, '500');
    for (let i = 0; i < 5; i += 1) await exchange(t.proxy.port, { body: json(MESSAGE) });
    const refused = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(refused.status, 503);
    assert.match(refused.text, 'circuit_open');
    const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
    const health = JSON.parse(text) as Health;
    assert.is(health.status, 'degraded');
    assert.equal(health.reasons, ['provider messages: its circuit breaker is open']);
    assert.is(health.circuit_breakers.any_open, true);
    assert.equal(health.circuit_breakers.providers['messages'], {
      state: 'open',
      open: true,
      failures: 5,
    });
    forceHealth(states, { provider: 'messages', state: 'healthy' });
    const { messages } = statesJson(states).providers;
    assert.equal([messages?.breaker.state, messages?.health.state], ['closed', 'healthy']);
    t.upstream.reset();
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
  }));

test('the state of a provider contains no key, and a forced state does not recover by itself', () =>
  withProxy({}, async (t) => {
    const { states } = t.proxy.services;
    forceHealth(states, { provider: 'chat', state: 'unhealthy' });
    const printed = JSON.stringify(statesJson(states));
    assert.not.match(printed, 'chat-key');
    assert.match(printed, '"reason":"forced","failures_in_row":0,"recovers_in_s":null');
    for (const input of [undefined, {}, { provider: 'chat', state: 'sick' }, { provider: 1 }])
      assert.throws(() => forceHealth(states, input), /healthy or unhealthy/);
    assert.throws(
      () => forceHealth(states, { provider: 'nobody', state: 'healthy' }),
      (error: unknown) => isSvcError(error) && error.kind === 'not_found',
    );
  }));

test('a provider without a key is told apart from one whose clients send their own', () =>
  withProxy(
    { yaml: 'providers: { local: { kind: chat, base_url: "http://127.0.0.1:9", auth: none } }\n' },
    async (t) => {
      const { providers } = statesJson(t.proxy.services.states);
      assert.equal([providers['local']?.needs_key, providers['local']?.keys], [false, []]);
      assert.is(providers['chat']?.needs_key, true);
    },
  ));

test.after(closeClients);
test.run();
