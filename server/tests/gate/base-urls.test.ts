/**
 * Providers under the base URLs from their manuals: the paths that the provider's server receives.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPair } from '../../../fixtures/forward/pair.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

/** The path of a base URL, and the path at which a conversation must arrive. */
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

test('every form of a base URL leads native and translated requests to the same endpoint', () =>
  withPair({ yaml }, async (t) => {
    for (const [name, [, path]] of Object.entries(CHAT_SERVERS)) {
      const requests = [
        { path: '/v1/chat/completions', body: json(CHAT, { model: `${name}-model` }) },
        { path: '/v1/messages', body: json(MESSAGE, { model: `${name}-model` }) },
      ];
      for (const sent of requests) {
        const response = await exchange(t.proxy.port, sent);
        assert.is(response.status, 200, `${name}: ${response.text}`);
        assert.is(t.spare.requests.at(-1)?.target, path, name);
      }
    }
    assert.is(t.upstream.requests.length, 0);
  }));

test('a query added by the client is kept', () =>
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

test('requests for stored conversations, other versions and uploads go to the vendor of their path', () =>
  withPair({ yaml: () => '' }, async (t) => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    const media = { 'content-type': 'image/png' };
    for (const [method, path, key, body] of [
      ['GET', '/v1/chat/completions?limit=2', 'chat-key', undefined],
      ['GET', '/v1alpha/models', 'generative-key', undefined],
      ['POST', '/v1beta1/tunedModels/m:countTokens', 'generative-key', '{}'],
      ['POST', '/upload/v1beta/files?uploadType=media', 'generative-key', png],
      ['GET', '/download/v1beta/files/f:download?alt=media', 'generative-key', undefined],
    ] as const) {
      const headers = body === png ? media : {};
      const response = await exchange(t.proxy.port, {
        method,
        path,
        headers,
        ...(body && { body }),
      });
      assert.is.not(response.status, 405, path);
      const last = t.upstream.requests.at(-1)!;
      assert.equal([last.method, last.target], [method, path]);
      assert.ok(last.body.equals(Buffer.from(body ?? '')), path);
      assert.match(last.headerBytes.toString(), key);
    }
    const path = '/v1alpha/models/gemini-3-pro:generateContent';
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] });
    await exchange(t.proxy.port, { path, body });
    assert.is(t.upstream.requests.at(-1)!.target, path);
    const row = (await t.rows(6)).at(-1);
    assert.equal([row?.dialect, row?.modelRequested], ['generative', 'gemini-3-pro']);
  }));

test.after(closeClients);
test.run();
