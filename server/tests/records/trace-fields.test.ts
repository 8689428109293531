/** Every trace has all fields that the specification requires, whatever the request did. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

type Stage = Readonly<Record<string, unknown>>;

const BODY = json({
  model: 'claude-fixture-1',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Where are the items made?' }],
});

for (const [what, yaml, headers] of [
  ['a small request', '', {}],
  ['one in strict mode', 'compression: { mode: strict, threshold_tokens: 0 }', {}],
  [
    'one with compression and vault off',
    'compression: { enabled: false }\nvault: { enabled: false }',
    {},
  ],
  ['one that bypasses svc', '', { 'x-svc-bypass': '1' }],
] as const)
  test(`the trace of ${what} lists tokens and blocks`, () =>
    withProxy({ yaml }, async (t) => {
      await exchange(t.proxy.port, { body: BODY, headers });
      await t.rows(1);
      const { text } = await exchange(t.proxy.port, { path: '/trace/last', method: 'GET' });
      const { stages } = JSON.parse(text) as { readonly stages: readonly Stage[] };
      const stage = (name: string): Stage => stages.find((one) => one['name'] === name) ?? {};
      const { tokens_before: before, tokens_after: after } = stage('compaction');
      assert.ok(Number(before) > 0, text);
      assert.is(after, before);
      assert.is(stage('vault_inject')['blocks_injected'], 0, text);
    }));

const COUNTED = '/v1/messages/count_tokens';
const TEXT = 'Where are the items made, and who asks for them? '.repeat(500);

for (const [what, path, yaml, text, isRough] of [
  ['a count in strict mode', COUNTED, 'compression: { mode: strict }', TEXT, undefined],
  ['a count while all is off', COUNTED, 'compression: { enabled: false }', TEXT, undefined],
  ['a large request', '/v1/messages', 'compression: { mode: strict }', TEXT.repeat(8), true],
] as const)
  test(`the trace of ${what} gives its size, and says if that is an estimate`, () =>
    withProxy({ yaml }, async (t) => {
      const messages = [{ role: 'user', content: text }];
      await exchange(t.proxy.port, {
        path,
        body: json({ model: 'claude-fixture-1', max_tokens: 9, messages }),
      });
      await t.rows(1);
      const last = await exchange(t.proxy.port, { path: '/trace/last', method: 'GET' });
      const { stages } = JSON.parse(last.text) as { readonly stages: readonly Stage[] };
      const compaction = stages.find((stage) => stage['name'] === 'compaction') ?? {};
      assert.ok(Number(compaction['tokens_before']) > 1000, last.text);
      assert.is(compaction['tokens_after'], compaction['tokens_before']);
      assert.is(compaction['tokens_rough'], isRough);
    }));

test.after(closeClients);
test.run();
