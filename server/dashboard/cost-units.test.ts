/** The cost of a request by unit: at the rates of the whole request, with its fee charged once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PriceList } from '../../stages/ledger/prices/price-list.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { costUnits } from './cost-units.ts';

const flat = (base: number) => ({ base, tiers: [] });
/**
 * Above 1,000 input tokens, cached ones included, input costs twice as much; each request has a
 * fee.
 */
const list: PriceList = {
  load: () => undefined,
  find: () => ({
    rates: {
      input: { base: 3, tiers: [{ start: 1000, price: 6 }] },
      output: flat(15),
      cache_read: flat(0.3),
      web_search: flat(10_000),
    },
    terms: {},
    perRequestUsd: 0.01,
    layer: 'library',
  }),
  list: () => [],
};
const PROVIDER = { name: 'messages', kind: 'messages' };

function unitsOf(row: Partial<LedgerRow>) {
  const facts = {
    id: 'a',
    startedMs: 0,
    endpoint: '/v1/messages',
    outcome: 'ok',
    model: 'm',
  } as const;
  return costUnits(ledgerRow({ ...facts, ...row }), PROVIDER, createPrices({ list })).map(
    ({ unit, count, cost }) => [unit, count, cost],
  );
}

test('units are priced at the rate of the whole prompt, and the request fee is listed apart', () => {
  // 400 uncached tokens at the rate above 1,000, 900 cache reads, 10 output tokens, and the fee.
  const costNanoUsd = 400 * 6000 + 900 * 300 + 10 * 15_000 + 10_000_000;
  assert.equal(
    unitsOf({ inputTokensSent: 1300, cacheReadTokens: 900, outputTokens: 10, costNanoUsd }),
    [
      ['input', 400, 0.0024],
      ['cache_read', 900, 0.00027],
      ['output', 10, 0.00015],
      ['other', null, 0.01],
    ],
  );
});

test('searches are a unit with a count but no tokens', () => {
  const costNanoUsd = 100 * 3000 + 2 * 10_000_000 + 10_000_000;
  assert.equal(unitsOf({ inputTokensSent: 100, webSearches: 2, costNanoUsd }), [
    ['input', 100, 0.0003],
    ['web_search', 2, 0.02],
    ['other', null, 0.01],
  ]);
});

test('a request without a price has no units', () => {
  assert.equal(unitsOf({ inputTokensSent: 100 }), []);
  assert.equal(unitsOf({ inputTokensSent: 100, costNanoUsd: 5, cacheHit: true }), []);
});

test.run();
