/** Which provider replaces one that fails, by the configuration and by their responses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../fixtures/paths.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import {
  bodyOf,
  direct,
  clientKey,
  textBy,
  traceOf,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair, PairOptions, PairDialect } from '../../fixtures/forward/pair.ts';

const MESSAGES = { path: '/v1/messages', body: bodyOf('messages', false) };

/**
 * Returns the documented example of a fallback, with its local server at the spare provider's URL.
 */
function documentedExample(url: string): string {
  const page = readFileSync(join(projectRoot, 'docs/providers.md'), 'utf8');
  const [, block = ''] =
    /^# Providers, fallback and routing\n[\s\S]*?```yaml\n(# ~[\s\S]*?)```/.exec(page) ?? [];
  const yaml = block.replace('http://127.0.0.1:11434', url);
  assert.not.equal(yaml, block, 'the page names a local server');
  return yaml;
}

test('the fallback example of the documentation works as written', () =>
  withPair({ yaml: documentedExample }, async (t) => {
    t.upstream.script(undefined, '529');
    const response = await exchange(t.proxy.port, { ...MESSAGES, headers: clientKey('messages') });
    assert.is(response.status, 200, response.text);
    assert.ok(textBy('messages', false, response.text).length > 0);
    const fallbackRequest = t.spare.requests[0]!;
    assert.is(fallbackRequest.target, '/v1/chat/completions');
    assert.is((JSON.parse(fallbackRequest.body.toString()) as { model: string }).model, 'qwen3');
  }));

/** Returns a configuration with a second fallback. */
function withSecond(secondUrl: string): PairOptions['yaml'] {
  return (url) => `providers:
  spare: { kind: messages, base_url: "${url}", api_key: spare-key }
  second: { kind: messages, base_url: "${secondUrl}", api_key: second-key }
fallback: [spare, second]
`;
}

test('a fallback that rejects the request is skipped in favour of the next one', async () => {
  const second = await startUpstream();
  try {
    await withPair({ yaml: withSecond(second.url) }, async (t) => {
      t.upstream.script(undefined, '529');
      for (const status of ['400', '403', '404', '413'] as const) {
        const stop = t.spare.script(undefined, status);
        const response = await exchange(t.proxy.port, {
          ...MESSAGES,
          headers: clientKey('messages'),
        });
        assert.is(response.status, 200, `after ${status}`);
        const { attempts } = await traceOf(t, response);
        assert.equal(
          attempts.map((each) => [each.provider, each.status]).slice(-2),
          [
            ['spare', Number(status)],
            ['second', 200],
          ],
          `after ${status}`,
        );
        stop();
        t.recover();
      }
      assert.is(t.proxy.services.states.get('spare')?.breaker.view().failures, 0);
    });
  } finally {
    await second.close();
  }
});

test("a rejection by a fallback does not hide the first provider's own error", async () => {
  for (const kind of ['messages', 'chat'] satisfies PairDialect[]) {
    await withPair({ yaml: withSpare(kind, 'providers:') }, async (t) => {
      t.spare.script(undefined, '404');
      const stop = t.upstream.script(undefined, '529');
      const send = () => exchange(t.proxy.port, { ...MESSAGES, headers: clientKey('messages') });
      const response = await send();
      assert.is(response.status, 529, kind);
      assert.ok(response.body.equals((await direct(t.upstream, MESSAGES)).body));
      stop();
      // Its objection to the request is the response, even if it is called last.
      t.proxy.services.states.forceHealth('messages', 'unhealthy');
      t.upstream.script(undefined, '400');
      const last = await send();
      assert.is(last.status, 400);
      assert.ok(last.body.equals((await direct(t.upstream, MESSAGES)).body));
      assert.is(t.spare.requests.length, 2);
    });
  }
});

test('an open breaker of the first provider is reported rather than a rejection by the fallback', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.spare.script(undefined, '404');
    t.upstream.script(undefined, '503');
    const send = () => exchange(t.proxy.port, { ...MESSAGES, headers: clientKey('messages') });
    for (let n = 0; n < 5; n += 1) await send();
    assert.ok(t.proxy.services.states.get('messages')?.breaker.isOpen());
    const response = await send();
    assert.is(response.status, 503);
    assert.match(response.text, '"type":"circuit_open"');
  }));

test('a rejection by the fallback is reported if the first provider cannot serve the request', () =>
  withPair(
    {
      yaml: (url) => `provider: local
providers:
  local: { kind: chat, base_url: "http://127.0.0.1:9", auth: none }
  spare: { kind: messages, base_url: "${url}", api_key: spare-key }
fallback: [spare]
`,
    },
    async (t) => {
      t.spare.script(undefined, '400');
      const document = { type: 'container_upload', file_id: 'file_1' };
      const messages = [{ role: 'user', content: [document] }];
      const body = bodyOf('messages', false, { messages });
      const response = await exchange(t.proxy.port, { path: '/v1/messages', body });
      assert.is(response.status, 400);
      assert.ok(response.body.equals((await direct(t.spare, { path: '/v1/messages', body })).body));
    },
  ));

/** Web searches of coding agents: the only tool is run by the provider. */
const SEARCHES = [
  [
    'messages',
    '/v1/messages',
    bodyOf('messages', true, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
    /spare' cannot serve this request: chat cannot carry the provider’s own tool web_search_20250305, which is all that the request offers/,
  ],
  [
    'generative',
    '/v1beta/models/gemini-2.5-flash:generateContent',
    '{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"googleSearch":{}}]}',
    /spare' cannot serve this request: chat cannot carry the provider’s own tool googleSearch, which is all that the request offers/,
  ],
] as const;

for (const [kind, path, body, why] of SEARCHES) {
  test(`a fallback that cannot search the web is named with the reason (${kind})`, () =>
    withPair(
      {
        yaml: (url) => `provider: local
providers:
  local: { kind: ${kind}, base_url: "http://127.0.0.1:9", auth: none }
  spare: { kind: chat, base_url: "${url}", api_key: spare-key }
fallback: [spare]
`,
      },
      async (t) => {
        const response = await exchange(t.proxy.port, { path, body });
        assert.is(response.status, 502);
        const { error } = JSON.parse(response.text) as { error: { message: string; code: string } };
        assert.match(error.message, /^Unable to reach provider: .*; /);
        assert.match(error.message, why);
        assert.is(error.code, 'PROVIDER_003');
        assert.is(t.spare.requests.length, 0);
      },
    ));
}

const requestedModels = (t: Pair): unknown[] =>
  t.upstream.requests.map(({ body }) => (JSON.parse(body.toString()) as { model: unknown }).model);

test('another model of the same provider can be a fallback', () =>
  withPair({ yaml: () => 'fallback: [messages/claude-small]\n' }, async (t) => {
    t.upstream.script(undefined, '529', { times: 1 });
    for (const headers of [clientKey('messages'), {}]) {
      const response = await exchange(t.proxy.port, { ...MESSAGES, headers });
      assert.is(response.status, 200, response.text);
    }
    assert.equal(requestedModels(t), ['claude-fixture-1', 'claude-small', 'claude-fixture-1']);
    const { attempts, stages } = await traceOf(t, await exchange(t.proxy.port, MESSAGES));
    assert.is(attempts.length, 1);
    assert.not.match(JSON.stringify(stages), 'left_out');
  }));

test('the same model of the same provider is not tried twice under two names', () =>
  withPair(
    {
      yaml: () => `providers:
  messages: { model_aliases: { claude-fixture-1: real, other: real } }
fallback: [messages, messages/other, messages/real, messages/small, messages/small]
`,
    },
    async (t) => {
      t.upstream.script(undefined, '529');
      assert.is((await exchange(t.proxy.port, MESSAGES)).status, 529);
      assert.equal(requestedModels(t), ['real', 'small']);
    },
  ));

test('a fallback to another model is skipped with a reason if the request must not be rewritten', () =>
  withPair({ yaml: () => 'fallback: [messages/claude-small]\n' }, async (t) => {
    t.upstream.script(undefined, '529');
    const response = await exchange(t.proxy.port, {
      ...MESSAGES,
      headers: { 'x-svc-bypass': '1' },
    });
    assert.is(response.status, 529);
    assert.equal(requestedModels(t), ['claude-fixture-1']);
    const { attempts } = await traceOf(t, response);
    assert.match(attempts[1]?.failure ?? '', /skipped: .*another model/);
    // Tokens are counted at the provider that would answer the turn itself.
    const count = { path: '/v1/messages/count_tokens', body: MESSAGES.body };
    const bypassed = { ...count, headers: { 'x-svc-bypass': '1' } };
    assert.is((await exchange(t.proxy.port, bypassed)).status, 529);
    assert.equal(requestedModels(t), Array(2).fill('claude-fixture-1'));
    assert.is((await exchange(t.proxy.port, count)).status, 529);
    assert.equal(requestedModels(t).slice(2), ['claude-fixture-1', 'claude-small']);
  }));

test.after(closeClients);
test.run();
