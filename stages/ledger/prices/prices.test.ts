import { calcPrice, findProvider } from '@pydantic/genai-prices';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Usage } from '../../model/usage.ts';
import { emptyUsage, totalInputTokens } from '../../model/usage.ts';
import type { PriceList } from './price-list.ts';
import type { RateCard } from './rate-card.ts';
import { createPriceList } from './price-list.ts';
import { OVERLAY, overlaid } from './price-overlay.ts';
import { createPrices } from './prices.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const messages = { name: 'messages', kind: 'messages' };
const usage = (parts: Partial<Usage>): Usage => ({ ...emptyUsage, ...parts });
const million = usage({ inputTokens: 100_000, outputTokens: 100_000 });

const flat = (base: number) => ({ base, tiers: [] });
const card: RateCard = {
  rates: {
    input: { base: 3, tiers: [{ start: 1000, price: 6 }] },
    output: flat(15),
    cache_read: flat(0.3),
    cache_write: flat(3.75),
    cache_write_1h: flat(6),
  },
  terms: {},
  perRequestUsd: 0,
  layer: 'library',
};

/** Returns a price list with one model, `known`, that counts its lookups. */
function smallList(): PriceList & { lookups: number } {
  return {
    lookups: 0,
    load: () => undefined,
    find(_provider, model) {
      this.lookups += 1;
      return model === 'known' ? card : null;
    },
    list: () => [],
  };
}

test('each part of a usage is priced at its own rate, in whole nano-dollars', () => {
  const prices = createPrices({ list: smallList() });
  const cost = prices.costNanoUsd(
    messages,
    'known',
    usage({
      inputTokens: 100,
      outputTokens: 10,
      cacheReadTokens: 500,
      cacheWriteTokens: 40,
      cacheWrite1hTokens: 15,
    }),
    NOW,
  );
  assert.is(cost, 100 * 3000 + 10 * 15_000 + 500 * 300 + 25 * 3750 + 15 * 6000);
});

test('a price tier counts cached input and begins above its bound', () => {
  const prices = createPrices({ list: smallList() });
  const at = (parts: Partial<Usage>) => prices.costNanoUsd(messages, 'known', usage(parts), NOW);
  assert.is(at({ inputTokens: 1000 }), 1000 * 3000);
  assert.is(at({ inputTokens: 1, cacheReadTokens: 1000 }), 6000 + 1000 * 300);
});

test('the cost is null if the model or the input is unknown', () => {
  const prices = createPrices({ list: smallList() });
  assert.is(prices.costNanoUsd(messages, 'nobody', million, NOW), null);
  assert.is(prices.costNanoUsd(messages, 'known', emptyUsage, NOW), null);
  assert.is(prices.costNanoUsd(messages, 'known', usage({ outputTokens: 5 }), NOW), null);
  assert.is(prices.savedNanoUsd(messages, 'nobody', million, 5, NOW), null);
});

test('saved tokens are priced at the average input price of the request', () => {
  const prices = createPrices({ list: smallList() });
  const plain = usage({ inputTokens: 100, outputTokens: 50 });
  assert.is(prices.savedNanoUsd(messages, 'known', plain, 100, NOW), 100 * 3000);
  const cached = usage({ inputTokens: 0, cacheReadTokens: 100 });
  assert.is(prices.savedNanoUsd(messages, 'known', cached, 100, NOW), 100 * 300);
});

test('a configured price takes precedence, scales the cache prices, and needs both rates for an unlisted model', () => {
  const prices = createPrices({
    list: smallList(),
    overrides: new Map([
      ['cheap', { input_cost_per_1m_tokens: 1.5, output_cost_per_1m_tokens: 2 }],
      ['half', { output_cost_per_1m_tokens: 2 }],
    ]),
  });
  const cheap = { name: 'cheap', kind: 'messages' };
  const half = { name: 'half', kind: 'messages' };
  const parts = usage({ inputTokens: 10, outputTokens: 10, cacheReadTokens: 10 });
  assert.is(prices.costNanoUsd(cheap, 'known', parts, NOW), 15_000 + 20_000 + 1500);
  assert.is(prices.costNanoUsd(cheap, 'own', parts, NOW), 15_000 + 20_000 + 15_000);
  assert.is(prices.costNanoUsd(half, 'known', parts, NOW), 30_000 + 20_000 + 3000);
  assert.is(prices.costNanoUsd(half, 'own', parts, NOW), null);
  assert.is(prices.costNanoUsd(messages, 'known', parts, NOW), 30_000 + 150_000 + 3000);
});

test('the list is read once per model and minute, including unknown models', () => {
  const list = smallList();
  const prices = createPrices({ list });
  for (let n = 0; n < 10; n += 1) {
    prices.costNanoUsd(messages, 'known', million, NOW + n);
    prices.costNanoUsd(messages, 'nobody', million, NOW + n);
  }
  assert.is(list.lookups, 2);
  prices.costNanoUsd(messages, 'known', million, NOW + 60_000);
  assert.is(list.lookups, 3);
});

test('the public list finds prices by kind, reseller address, vendor and local model', () => {
  const list = createPriceList();
  const input = (kind: string, model: string, baseUrl?: string) =>
    list.find({ name: 'p', kind, ...(baseUrl && { baseUrl }) }, model, NOW)?.rates.input?.base;
  assert.is(input('messages', 'claude-sonnet-4-5-20250929'), 3);
  assert.is(input('chat', 'gpt-5.1'), 1.25);
  assert.is(input('generative', 'gemini-2.5-pro'), 1.25);
  assert.is(input('chat', 'claude-sonnet-4-5'), 3);
  assert.type(input('chat', 'deepseek-chat', 'https://api.deepseek.com'), 'number');
  assert.is(input('chat', 'llama3.2', 'http://127.0.0.1:11434/v1'), undefined);
  assert.is(input('messages', '__proto__'), undefined);
});

test('a dated price applies on its day', () => {
  const list = createPriceList();
  const tiers = (atMs: number) =>
    list.find(messages, 'claude-sonnet-4-6', atMs)?.rates.input?.tiers;
  assert.is(tiers(Date.UTC(2026, 2, 1))?.length, 1);
  assert.is(tiers(NOW)?.length, 0);
});

function isOverlaid(vendor: string, model: string): boolean {
  return overlaid(OVERLAY, vendor, model, NOW) !== undefined;
}

test('every listed text price equals the library’s own calculation', () => {
  const prices = createPrices();
  const models = ['anthropic', 'openai', 'google'].flatMap((vendor) => {
    const kind = { anthropic: 'messages', openai: 'chat', google: 'generative' }[vendor] ?? '';
    const listed = findProvider({ providerId: vendor })?.models ?? [];
    return listed
      .filter(({ id }) => !isOverlaid(vendor, id))
      .map((model) => ({
        provider: { name: vendor, kind },
        vendor,
        model: model.id,
      }));
  });
  const tokens = fc.nat(300_000);
  const property = fc.property(
    fc.constantFrom(...models),
    fc.tuple(tokens, tokens, tokens, tokens, tokens),
    ({ provider, vendor, model }, [plain, read, write, write1h, output]) => {
      const parts = usage({
        inputTokens: plain,
        outputTokens: output,
        cacheReadTokens: read,
        cacheWriteTokens: write + write1h,
        cacheWrite1hTokens: write1h,
      });
      const libraryPrice = calcPrice(
        {
          input_tokens: totalInputTokens(parts) ?? 0,
          cache_read_tokens: read,
          cache_write_tokens: write + write1h,
          cache_write_1h_tokens: write1h,
          output_tokens: output,
        },
        model,
        { providerId: vendor, timestamp: new Date(NOW) },
      );
      const ourPrice = prices.costNanoUsd(provider, model, parts, NOW);
      if (libraryPrice === null) return ourPrice === null;
      const { input_mtok: ofInput, output_mtok: ofOutput } = libraryPrice.model_price;
      if (ofInput === undefined || ofOutput === undefined) return true;
      return ourPrice !== null && Math.abs(ourPrice - libraryPrice.total_price * 1e9) <= 1;
    },
  );
  fc.assert(property, { numRuns: 400 });
});

test('the list has models of all three vendors with plausible prices', () => {
  const listed = createPrices().listPrices(NOW);
  assert.equal(
    [...new Set(listed.map((price) => price.vendor))],
    ['anthropic', 'openai', 'google'],
  );
  const sonnet = listed.find((price) => price.model === 'claude-sonnet-4-5');
  assert.equal(
    [sonnet?.inputUsdPer1m, sonnet?.outputUsdPer1m, sonnet?.cacheReadUsdPer1m],
    [3, 15, 0.3],
  );
  assert.equal(createPrices().listPrices(NOW, ['nobody']), []);
});

test.run();
