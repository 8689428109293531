/** `/savings`, `/cache-stats`, `/health` and the paths of removed blocks, on a running proxy. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { CHAT, closeClients, exchange, json as toJson } from '../../fixtures/server/exchange.ts';
import { answer as scenario } from '../../fixtures/upstream.ts';
import { jsonAnswer } from '../../fixtures/upstream/answer.ts';
import { parseIsoDate } from './iso-date.ts';

const YAML = 'compression:\n  threshold_tokens: 100\nsecurity:\n  api_key: a-key-of-the-proxy\n';

const grepOutput = Array.from(
  { length: 60 },
  (_, n) =>
    `src/components/navigation/sidebar/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

const BODY = JSON.stringify({
  model: 'claude-fixture-1',
  max_tokens: 10,
  messages: [
    { role: 'user', content: 'Where are the items made?' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Grep', input: { pattern: 'useItem' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: grepOutput }] },
  ],
});

type Json = Readonly<Record<string, unknown>>;

async function read(t: TestProxy, path: string, headers: Record<string, string> = {}) {
  const { status, text } = await exchange(t.proxy.port, { path, method: 'GET', headers });
  return { status, json: JSON.parse(text) as Json };
}

/** Sends a request from which compression removes something; returns its id. */
async function sendLosing(t: TestProxy): Promise<string> {
  const response = await exchange(t.proxy.port, { body: BODY, headers: { 'x-api-key': 'k' } });
  assert.is(response.status, 200, response.text);
  await t.rows(1);
  return String(response.headers['x-request-id']);
}

test('the changes of a request can be read block by block, on this machine only', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    assert.is((await read(t, '/v1/svc/lost/last')).status, 404);
    const id = await sendLosing(t);
    const { status, json } = await read(t, '/v1/svc/lost/last');
    assert.is(status, 200);
    assert.is(json['request_id'], id);
    assert.equal((await read(t, `/v1/svc/lost/${id}`)).json, json);
    const [block] = json['blocks'] as Json[];
    assert.is(block?.['before'], grepOutput);
    assert.is(block?.['tool'], 'Grep');
    const { index, ...alone } = block!;
    assert.is(index, 2);
    assert.equal((await read(t, `/v1/svc/blocks/${String(block!['id'])}`)).json, alone);
    const remote = { 'x-forwarded-for': '10.0.0.9', 'x-svc-key': 'a-key-of-the-proxy' };
    assert.is((await read(t, '/health', remote)).status, 200);
    for (const path of ['/v1/svc/lost/last', `/v1/svc/blocks/${String(block!['id'])}`]) {
      assert.is((await read(t, path, remote)).status, 403, path);
    }
  });
});

test('none of our paths under /v1 ever reaches a provider', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    for (const path of ['/v1/svc/blocks/none', '/v1/svc/lost/none', '/v1/svc/x', '/v1/svc'])
      assert.is((await read(t, path, { 'x-api-key': 'k' })).status, 404, path);
    const posted = await exchange(t.proxy.port, { path: '/v1/svc/blocks/none', body: '{}' });
    assert.is(posted.status, 405);
    assert.is(t.upstream.requests.length, 0);
  });
});

test('savings use the counts of the provider, and unmeasured figures are null', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    assert.is((await read(t, '/health')).json['compression_ratio_avg'], null);
    await sendLosing(t);
    const [row] = await t.rows(1);
    const saved = row!.savedTokens!;
    assert.ok(saved > 0);
    const all = (await read(t, '/savings')).json;
    assert.is(all['total_requests'], 1);
    assert.is(all['total_tokens_saved'], saved);
    assert.is((await read(t, '/savings?since=2020-01-01')).json['total_requests'], 1);
    assert.is((await read(t, '/savings?since=2999-01-01T00:00:00Z')).json['total_requests'], 0);
    for (const since of ['yesterday', '2026-02-31', '2026-1-1', '1', '']) {
      assert.is((await read(t, `/savings?since=${since}`)).status, 400, since);
    }
  });
});

test('saved tokens are in the model’s own tokens, by the ratio learned from its usage', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    const id = await sendLosing(t);
    const [row] = await t.rows(1);
    const { learned, originals } = t.proxy.services;
    const [model] = learned.status().models;
    assert.is(model?.model, row?.model);
    assert.is.not(model?.tokenRatio, 1);
    const estimated = (originals.ofRequest(id) ?? []).reduce(
      (sum, block) => sum + block.tokensBefore - block.tokensAfter,
      0,
    );
    assert.is(row?.savedTokens, Math.round(estimated * model!.tokenRatio));
    const ratio = (await read(t, '/health')).json['compression_ratio_avg'];
    assert.is(ratio, row!.savedTokens! / row!.inputTokensRaw!);
  });
});

test('each cache is reported apart from the others', async () => {
  await withProxy({ yaml: YAML }, async (t) => {
    const before = (await read(t, '/cache-stats')).json;
    const unused = { hits: 0, misses: 0, hit_ratio: null, entries: 0, bytes: 0 };
    assert.equal(before['response_cache'], unused);
    assert.equal(before['compression_cache'], unused);
    // This request reaches no provider, so it adds no provider cache.
    await exchange(t.proxy.port, { body: '{"model": 7' });
    await sendLosing(t);
    const { compression_cache: compression, prompt_cache: prompt } = (await read(t, '/cache-stats'))
      .json as Record<string, Json>;
    assert.is(compression?.['misses'], 1);
    assert.is(compression?.['entries'], 1);
    // The same request again hits the cache, block by block.
    await sendLosing(t);
    const again = (await read(t, '/cache-stats')).json['compression_cache'] as Json;
    assert.equal([again['hits'], again['misses']], [1, 1]);
    assert.equal(Object.keys(prompt?.['providers'] as Json), ['messages']);
  });
});

/** Usage as a provider of kind chat reports it: cache reads, never cache writes. */
const CACHED = {
  id: 'c1',
  object: 'chat.completion',
  model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1_000_000,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 128 },
  },
};

test('the hit ratio of a provider’s cache is its share of all input', () =>
  withProxy({}, async (t) => {
    t.upstream.script(
      undefined,
      scenario(() => jsonAnswer(200, CACHED)),
    );
    const body = toJson(CHAT, { model: 'gpt-5' });
    await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
    await t.rows(1);
    const { json: stats } = await read(t, '/cache-stats');
    const { providers, ...all } = stats['prompt_cache'] as Record<string, Json>;
    assert.is(all['hit_ratio'], 0.000128);
    const { chat } = providers as Record<string, Json>;
    assert.is(chat?.['hit_ratio'], 0.000128);
    const metrics = await exchange(t.proxy.port, { path: '/metrics', method: 'GET' });
    assert.match(metrics.text, /prompt_cache_hit_ratio\{[^}]*"chat"[^}]*\} 0\.000128$/m);
  }));

test('accepts only ISO 8601 dates', () => {
  assert.is(parseIsoDate('2026-01-31'), Date.UTC(2026, 0, 31));
  assert.is(parseIsoDate('2026-01-31T12:30:00+02:00'), Date.UTC(2026, 0, 31, 10, 30));
  assert.is(parseIsoDate('2024-02-29T00:00Z'), Date.UTC(2024, 1, 29));
  for (const text of [
    '2026-02-29',
    '2026-13-01',
    '2026-01-31 12:00',
    '2026-01-31T25:00Z',
    '2026',
  ]) {
    assert.is(parseIsoDate(text), undefined, text);
  }
  assert.is(parseIsoDate('2026-01-31T12:00:00'), undefined, 'a time needs a zone');
});

test('the response cache reports its hits, and nothing while it is off', async () => {
  const body = JSON.stringify({ ...(JSON.parse(BODY) as Json), temperature: 0 });
  const responses = async (t: TestProxy): Promise<unknown> => {
    for (const count of [1, 2]) {
      const { status } = await exchange(t.proxy.port, { body, headers: { 'x-api-key': 'k' } });
      assert.is(status, 200);
      await t.rows(count);
    }
    return (await read(t, '/cache-stats')).json['response_cache'];
  };
  await withProxy({ yaml: YAML }, async (t) => {
    const { hits, misses, entries, bytes } = (await responses(t)) as Record<string, number>;
    assert.equal([hits, misses, entries], [1, 1, 1]);
    assert.ok(bytes! > 100, `${bytes}`);
  });
  await withProxy({ yaml: `${YAML}cache:\n  enabled: false\n` }, async (t) => {
    assert.is(await responses(t), null);
  });
});

test.after(() => closeClients());
test.run();
