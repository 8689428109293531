/**
 * Prices set by users: in their own file by model and day, and for a provider with all units and
 * conditions.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import type { ProxyOptions } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { SvcError } from '../../../engine/index.ts';
import { openReader } from '../../../stages/ledger/open-reader.ts';
import { readOwnPrices } from '../../../stages/ledger/prices/own-prices.ts';
import { createPrices } from '../../../stages/ledger/prices/prices.ts';
import { unpricedModels } from '../../../stages/ledger/unpriced.ts';
import { emptyUsage } from '../../../stages/model/usage.ts';

const USAGE = { input_tokens: 1000, output_tokens: 100 };

async function costs(options: ProxyOptions, model: string, usages: readonly object[]) {
  const found: (number | null)[] = [];
  await withPlainUpstream(options, async (t, upstream) => {
    for (const [index, usage] of usages.entries()) {
      const answer = { type: 'message', role: 'assistant', model, content: [], usage };
      upstream.answer((response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      });
      await exchange(t.proxy.port, { body: json(MESSAGE, { model }) });
      found.push((await t.rows(index + 1)).at(-1)!.costNanoUsd);
    }
  });
  return found;
}

test('a provider has prices for all units, tiers and terms', async () => {
  const yaml = `providers:
  messages:
    pricing:
      input_cost_per_1m_tokens: 1
      output_cost_per_1m_tokens: 10
      rates: { cache_read: 0.5, web_search: 20 }
      long_context: { above: 5000, input: 3 }
      terms: { priority: 4 }
`;
  const found = await costs({ yaml }, 'nobody-knows-1', [
    USAGE,
    { ...USAGE, cache_read_input_tokens: 2000, server_tool_use: { web_search_requests: 2 } },
    { ...USAGE, input_tokens: 6000 },
    { ...USAGE, service_tier: 'priority' },
    { ...USAGE, service_tier: 'scale' },
  ]);
  assert.equal(found, [
    2_000_000,
    2_000_000 + 1_000_000 + 40_000_000,
    6000 * 3000 + 1_000_000,
    8_000_000,
    null,
  ]);
});

const FILE = [
  { model: 'new-model-7', since: '2026-01-01', input: 1, output: 2 },
  {
    model: 'new-model-7',
    since: '2026-11-01',
    input: 10,
    output: 20,
    cache_read: 1,
    terms: { us: 3 },
  },
];

test('a price in the file applies from its date on, to all names of its model', () => {
  const own = readOwnPrices(JSON.stringify(FILE), 'prices.json');
  const prices = createPrices({ own });
  const usage = { ...emptyUsage, inputTokens: 1000, outputTokens: 0 };
  const at = (day: string, model = 'new-model-7') =>
    prices.costNanoUsd({ name: 'messages', kind: 'messages' }, model, usage, Date.parse(day));
  assert.is(at('2026-10-31'), 1_000_000);
  assert.is(at('2026-11-01'), 10_000_000);
  assert.is(at('2026-11-01', 'vendor/new-model-7-20261101'), 10_000_000);
  assert.is(at('2026-11-01', 'new-model-7-5'), null);
  const american = { ...usage, billing: { geo: 'us' } };
  const provider = { name: 'messages', kind: 'messages' };
  assert.is(prices.costNanoUsd(provider, 'new-model-7', american, Date.now()), 30_000_000);
});

test('a price in the file applies to one model, and the list supplies what it omits', () => {
  const entries = [
    { model: 'gpt-5', input: 9, output: 90 },
    { model: 'claude-opus-5', input: 10, output: 50 },
  ];
  const listed = createPrices({ own: [] });
  const own = createPrices({ own: readOwnPrices(JSON.stringify(entries), 'prices.json') });
  const now = Date.parse('2026-11-28');
  const usage = {
    ...emptyUsage,
    inputTokens: 1000,
    outputTokens: 100,
    cacheReadTokens: 5000,
    cacheWriteTokens: 3000,
    cacheWrite1hTokens: 2000,
  };
  const cost = (of: typeof own, kind: string, model: string) =>
    of.costNanoUsd({ name: kind, kind }, model, usage, now);
  for (const sister of ['gpt-5-mini', 'gpt-5-pro'])
    assert.is(cost(own, 'chat', sister), cost(listed, 'chat', sister), sister);
  // Doubling the listed input and output prices doubles the cache prices too.
  const [before, after] = [listed, own].map((of) => cost(of, 'messages', 'claude-opus-5'));
  assert.is(after, 2 * before!);
});

test('an invalid price file is refused, naming the entry', () => {
  for (const [text, what] of [
    ['{', /not valid JSON/],
    ['{}', /not a list/],
    ['[{"model":"m","input":1}]', /entry 1 needs both/],
    ['[{"model":"m","input":1,"output":-1}]', /'output' must be a number/],
    ['[{"model":"m","input":1,"output":1,"inptu":1}]', /'inptu' is not known/],
    ['[{"model":"m","input":1,"output":1,"since":"soon"}]', /since must be a date/],
  ] as const) {
    assert.throws(
      () => readOwnPrices(text, 'prices.json'),
      (thrown: unknown) =>
        thrown instanceof SvcError && thrown.kind === 'config' && what.test(thrown.message),
    );
  }
});

test('a reload reads the price file in the home folder', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const answer = { type: 'message', role: 'assistant', content: [], usage: USAGE };
    upstream.answer((response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    });
    const body = json(MESSAGE, { model: 'new-model-7' });
    await exchange(t.proxy.port, { body });
    writeFileSync(join(dirname(t.db), 'prices.json'), JSON.stringify(FILE), { mode: 0o600 });
    await t.proxy.reload();
    await exchange(t.proxy.port, { body });
    const rows = await t.rows(2);
    assert.equal(
      rows.map(({ costNanoUsd }) => costNanoUsd),
      [null, 12_000_000],
    );
    const reader = await openReader(t.db);
    try {
      const wanted = [{ model: 'new-model-7', requests: 1 }];
      assert.equal(await unpricedModels(reader, 0), wanted, 'as svc doctor names them');
      assert.equal(await unpricedModels(reader, Date.now() + 60_000), []);
    } finally {
      await reader.destroy();
    }
  }));

test.after(closeClients);
test.run();
