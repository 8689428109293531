/**
 * The public price list: what a provider asks for a model at a moment. The data
 * are those of `@pydantic/genai-prices` as installed; its updater, which would
 * fetch from the network, is never used.
 */
import { createRequire } from 'node:module';
import type { ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';

type PriceLibrary = typeof import('@pydantic/genai-prices');

/** Whose price is asked for. */
export interface PricedProvider {
  /** The configured name; overrides go by it. */
  readonly name: string;
  /** `messages`, `chat`, `generative` or `passthrough`. */
  readonly kind: string;
  /** Where it is reached; recognises resellers and other vendors behind a kind. */
  readonly baseUrl?: string;
}

/** Dollars per million tokens. A tier reprices the whole request once its input exceeds `start` tokens. */
export interface Rate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** What a model costs. A rate that the provider does not set apart is already that of the tokens it counts them as. */
export interface RateCard {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
  readonly cacheWrite1h: Rate;
  /** Dollars for a request as such; 0 nearly everywhere. */
  readonly perRequestUsd: number;
  /** Tokens that the model reads at most; absent where that is not listed. */
  readonly contextWindow?: number;
}

/** A line of the list. Rates are dollars per million tokens below any tier; `null` where none is listed. */
export interface ListedPrice {
  readonly vendor: string;
  readonly model: string;
  readonly name: string;
  readonly contextWindow: number | null;
  readonly inputUsdPer1m: number | null;
  readonly outputUsdPer1m: number | null;
  readonly cacheReadUsdPer1m: number | null;
  readonly cacheWriteUsdPer1m: number | null;
}

export type PriceList = ReturnType<typeof createPriceList>;

/** The vendor whose dialect a kind is. */
const VENDORS: ReadonlyMap<string, string> = new Map([
  ['messages', 'anthropic'],
  ['chat', 'openai'],
  ['generative', 'google'],
]);

const FREE: Rate = { base: 0, tiers: [] };

/** The list in the installed package; nothing is read before it is needed. */
export function createPriceList() {
  let library: PriceLibrary | undefined;
  const loaded = () => {
    // `require`, so that a request that ends before the list is warm still gets its price.
    library ??= createRequire(import.meta.url)('@pydantic/genai-prices') as PriceLibrary;
    return library;
  };
  return {
    /** Reads the data, which takes some 100 ms once; otherwise the first question does. */
    load: (): void => void loaded(),
    /** The price of a model at a moment (ms since the epoch), or `null` if it is not listed. */
    find: (provider: PricedProvider, model: string, atMs: number): RateCard | null =>
      findCard(loaded(), provider, model, new Date(atMs)),
    /** All models of a vendor (`anthropic`, `openai`, `google`, …) as priced at that moment; empty for an unknown vendor. */
    list(vendor: string, atMs: number): ListedPrice[] {
      const provider = loaded().findProvider({ providerId: vendor });
      if (provider === undefined) return [];
      return provider.models.map((model) => toListed(loaded(), provider, model, new Date(atMs)));
    },
  };
}

/** Asks the vendor behind the address, then the one whose dialect it speaks, then the one whose model it is. */
function findCard(
  library: PriceLibrary,
  provider: PricedProvider,
  model: string,
  timestamp: Date,
): RateCard | null {
  const vendorOf = (kind: string): Provider | undefined => {
    const providerId = VENDORS.get(kind);
    return providerId === undefined ? undefined : library.findProvider({ providerId });
  };
  const vendors = [
    provider.baseUrl && library.findProvider({ providerApiUrl: provider.baseUrl }),
    vendorOf(provider.kind),
    library.findProvider({ modelId: model }),
  ];
  for (const vendor of vendors) {
    if (!vendor) continue;
    const found = library.calcPrice({ input_tokens: 0 }, model, { provider: vendor, timestamp });
    if (found !== null) return toCard(found.model_price, found.model.context_window);
  }
  return null;
}

function toCard(price: ModelPrice, contextWindow: number | undefined): RateCard {
  const input = toRate(price['input_mtok']) ?? FREE;
  const cacheWrite = toRate(price['cache_write_mtok']) ?? input;
  return {
    input,
    output: toRate(price['output_mtok']) ?? FREE,
    cacheRead: toRate(price['cache_read_mtok']) ?? input,
    cacheWrite,
    cacheWrite1h: toRate(price['cache_write_1h_mtok']) ?? cacheWrite,
    perRequestUsd: (toRate(price['requests_kcount'])?.base ?? 0) / 1000,
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

function toRate(price: ModelPrice[string]): Rate | undefined {
  if (price === undefined) return undefined;
  return typeof price === 'number' ? { base: price, tiers: [] } : price;
}

function toListed(
  library: PriceLibrary,
  provider: Provider,
  model: ModelInfo,
  timestamp: Date,
): ListedPrice {
  // Alone and matched by its own name: another model's pattern could match the name first.
  const alone = { ...provider, models: [{ ...model, match: { equals: model.id } }] };
  const found = library.calcPrice({ input_tokens: 0 }, model.id, { provider: alone, timestamp });
  const usd = (unit: string) => toRate(found?.model_price[unit])?.base ?? null;
  return {
    vendor: provider.id,
    model: model.id,
    name: model.name ?? model.id,
    contextWindow: model.context_window ?? null,
    inputUsdPer1m: usd('input_mtok'),
    outputUsdPer1m: usd('output_mtok'),
    cacheReadUsdPer1m: usd('cache_read_mtok'),
    cacheWriteUsdPer1m: usd('cache_write_mtok'),
  };
}
