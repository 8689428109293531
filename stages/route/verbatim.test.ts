import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { Trace } from '../ledger/traces.ts';

const LOG = Array.from(
  { length: 1500 },
  (_, i) => `2026-11-21T07:00:${String(i % 60).padStart(2, '0')} INFO worker ${i} finished job ok`,
).join('\n');

/** A request that is shortened a lot for a provider that allows rewriting. */
const LONG = json(MESSAGE, {
  messages: [
    { role: 'user', content: 'see' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat log' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: LOG }] },
  ],
});

async function stagesOf({ proxy }: TestProxy): Promise<ReadonlyMap<string, string>> {
  const { text } = await exchange(proxy.port, { path: '/trace/last', method: 'GET' });
  const { stages } = JSON.parse(text) as Trace;
  return new Map(stages.map((stage) => [stage.name, JSON.stringify(stage)]));
}

for (const yaml of ['provider: passthrough\n', 'routing: { primary: passthrough }\n']) {
  test(`${yaml.trim()}: the request’s path decides, and nothing is rewritten`, () =>
    withProxy({ yaml }, async (t) => {
      const streamed = json(CHAT, { stream: true });
      const sent = [
        ['/v1/messages', LONG],
        ['/v1/chat/completions', json(CHAT)],
        ['/v1/chat/completions', streamed],
        ['/v1/messages', json(MESSAGE, { model: 'x', temperature: 0 })],
      ] as const;
      for (const [path, body] of sent) {
        assert.is((await exchange(t.proxy.port, { path, body })).status, 200);
        const last = t.upstream.requests.at(-1)!;
        assert.equal([last.path, last.body.toString()], [path, body]);
      }
      assert.is(t.upstream.requests[0]!.header('x-api-key'), 'messages-key');
      const rows = await t.rows(4);
      assert.equal(
        rows.map((row) => row.provider),
        ['messages', 'chat', 'chat', 'messages'],
      );
      assert.is(rows[0]!.savedTokens, null);
      assert.is(rows[0]!.mode, null);
      const health = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
      assert.match(health.text, '"status":"ok"');
    }));
}

/** `p` has every setting that would change a request at another kind of provider. */
const yamlOf = (url: string, key: string): string => `providers:
  p: { kind: passthrough, base_url: "${url}", ${key} extra_body: { extra: 1 }, supports_streaming: false }
  sound: { kind: messages, base_url: "${url}", api_key: sound-key }
`;

async function withVerbatim(
  more: string,
  use: (t: TestProxy, sent: () => string) => Promise<void>,
  key = 'api_key: p-key,',
): Promise<void> {
  const upstream = await startUpstream();
  const last = () => upstream.requests.at(-1)?.body.toString() ?? '';
  try {
    await withProxy({ yaml: yamlOf(upstream.url, key) + more }, (t) => use(t, last));
  } finally {
    await upstream.close();
  }
}

const TO_RELAY = [
  'provider: p\n',
  'models: { claude-fixture-1: { provider: p }, gpt-fixture-1: { provider: p } }\n',
  'fallback: [p]\n',
  'cache: { enabled: true }\nprovider: p\nfallback: [sound]\n',
];

for (const more of TO_RELAY) {
  test(`a passthrough provider gets the request bytes unchanged (${more.trim()})`, () =>
    withVerbatim(more, async (t, sent) => {
      t.upstream.script(undefined, '500');
      assert.is((await exchange(t.proxy.port, { body: LONG })).status, 200);
      assert.is(sent(), LONG);
      const [row] = await t.rows(1);
      assert.equal([row!.provider, row!.savedTokens, row!.mode], ['p', null, null]);
      const path = '/v1/chat/completions';
      const streamed = json(CHAT, { stream: true, temperature: 0 });
      assert.is((await exchange(t.proxy.port, { path, body: streamed })).status, 200);
      assert.is(sent(), streamed);
      if (more.startsWith('fallback')) return;
      const stages = await stagesOf(t);
      const [, before, after] = /"tokens_before":(\d+),"tokens_after":(\d+)/.exec(
        stages.get('compaction') ?? '',
      )!;
      assert.is(before, after);
      assert.match(stages.get('route') ?? '', 'sent_as_it_came');
    }));
}

test('the trace states why a saving was undone for a passthrough provider', () =>
  withVerbatim('fallback: [p]\n', async (t, sent) => {
    const because =
      /"not_compressed_because":"its provider is of kind passthrough, whose requests are never rewritten"/;
    const reasons = async (): Promise<readonly string[]> =>
      [...(await stagesOf(t))].filter(([, stage]) => because.test(stage)).map(([name]) => name);
    assert.is((await exchange(t.proxy.port, { body: LONG })).status, 200);
    assert.equal(await reasons(), [], 'it was compressed and served by the first provider');
    t.upstream.script(undefined, '500');
    assert.is((await exchange(t.proxy.port, { body: LONG })).status, 200);
    assert.ok(sent() === LONG);
    assert.equal(await reasons(), ['upstream_forward'], 'the provider failed on the way');
    t.proxy.services.states.forceHealth('messages', 'unhealthy');
    assert.is((await exchange(t.proxy.port, { body: LONG })).status, 200);
    assert.ok(sent() === LONG);
    assert.equal(await reasons(), ['route'], 'the provider was known to be down');
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    assert.equal(await reasons(), [], 'there was nothing to undo');
  }));

test('the trace states why a rule to a passthrough provider undid a saving', () =>
  withVerbatim('', async (t, sent) => {
    t.proxy.services.router.use([
      { id: 'r1', priority: 0, model: 'claude-*', target: 'p/claude-fixture-1' },
    ]);
    assert.is((await exchange(t.proxy.port, { body: LONG })).status, 200);
    assert.ok(sent() === LONG);
    assert.match((await stagesOf(t)).get('route') ?? '', '"not_compressed_because"');
  }));

test('a fallback of another kind than passthrough may still be sent a rewritten request', () =>
  withVerbatim('provider: p\nfallback: [sound]\n', async (t, sent) => {
    t.proxy.services.states.forceHealth('p', 'unhealthy');
    const body = json(CHAT);
    const { status } = await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
    assert.is(status, 200);
    assert.match(sent(), '"max_tokens"');
  }));

test('a fallback without a key is skipped with a note in the trace', () =>
  withVerbatim(
    'fallback: [p, sound]\n',
    async (t) => {
      t.upstream.script(undefined, '500');
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
      assert.match((await stagesOf(t)).get('route') ?? '', 'p: it has no key');
    },
    '',
  ));

test.after(closeClients);
test.run();
