/** Providers under the base URLs that their manuals name: what the provider's own server gets to see. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair } from '../../fixtures/forward/pair.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

/** The path of a base URL, and where a conversation must arrive. */
const CHAT_SERVERS: Readonly<Record<string, readonly [base: string, path: string]>> = {
  origin: ['', '/v1/chat/completions'],
  ours: ['/openai/v1', '/openai/v1/chat/completions'],
  zai: ['/api/paas/v4', '/api/paas/v4/chat/completions'],
  coding: ['/api/coding/paas/v4/', '/api/coding/paas/v4/chat/completions'],
  gemini: ['/v1beta/openai/', '/v1beta/openai/chat/completions'],
  ark: ['/api/v3', '/api/v3/chat/completions'],
  qianfan: ['/v2', '/v2/chat/completions'],
  github: ['/inference', '/inference/chat/completions'],
  full: ['/api/paas/v4/chat/completions', '/api/paas/v4/chat/completions'],
  bare: ['/chat/completions', '/chat/completions'],
  azure: [
    '/openai/deployments/d/chat/completions?api-version=2026-10-01',
    '/openai/deployments/d/chat/completions?api-version=2026-10-01',
  ],
};

function yaml(url: string): string {
  const names = Object.keys(CHAT_SERVERS);
  const providers = names.map(
    (name) =>
      `  ${name}: { kind: chat, base_url: "${url}${CHAT_SERVERS[name]![0]}", auth: none }\n`,
  );
  const models = names.map((name) => `  ${name}-model: { provider: ${name} }\n`);
  return `providers:\n${providers.join('')}models:\n${models.join('')}`;
}

test('every form of a base URL leads a native and a translated request to the same endpoint', () =>
  withPair({ yaml }, async (t) => {
    for (const [name, [, path]] of Object.entries(CHAT_SERVERS)) {
      const asked = [
        { path: '/v1/chat/completions', body: json(CHAT, { model: `${name}-model` }) },
        { path: '/v1/messages', body: json(MESSAGE, { model: `${name}-model` }) },
      ];
      for (const sent of asked) {
        const got = await exchange(t.proxy.port, sent);
        assert.is(got.status, 200, `${name}: ${got.text}`);
        assert.is(t.spare.requests.at(-1)?.target, path, name);
      }
    }
    assert.is(t.upstream.requests.length, 0);
  }));

test('a client that adds a query keeps it', () =>
  withPair({ yaml }, async (t) => {
    const body = json(CHAT, { model: 'azure-model' });
    for (const [query, expected] of [
      ['?trace=%20a', '?trace=%20a&api-version=2026-10-01'],
      ['?api-version=2020-01-01', '?api-version=2020-01-01'],
    ]) {
      await exchange(t.proxy.port, { path: `/v1/chat/completions${query}`, body });
      const { target } = t.spare.requests.at(-1)!;
      assert.is(target, `/openai/deployments/d/chat/completions${expected}`);
    }
  }));

test.after(closeClients);
test.run();
