/**
 * The public price list: a provider's price for a model at a given time. The data are those of
 * `@pydantic/genai-prices` as installed, overridden by our overlay, and both by prices of the
 * user's own file; the library's updater, which would fetch from the network, is never used.
 */
import { createRequire } from 'node:module';
import type { ModelPrice } from '@pydantic/genai-prices';
import type { UnitName } from '../../model/billed-units.ts';
import { OVERLAY, overlaid, plainName, withTerms } from './price-overlay.ts';
import type { OverlayPrice } from './price-overlay.ts';
import type { PriceLayer, Rate, RateCard, Rates } from './rate-card.ts';
import { withMissingRates, scaleRate } from './rate-card.ts';

type PriceLibrary = typeof import('@pydantic/genai-prices');

/** The provider whose price is looked up. */
export interface PricedProvider {
  /** The configured name; overrides use it. */
  readonly name: string;
  /** `messages`, `chat`, `generative` or `passthrough`. */
  readonly kind: string;
  /** Its address; identifies resellers and other vendors of a kind. */
  readonly baseUrl?: string;
}

/**
 * A line of the list. Rates are dollars per million tokens below any tier; `null` if not listed.
 */
export interface ListedPrice {
  readonly vendor: string;
  readonly model: string;
  readonly name: string;
  readonly contextWindow: number | null;
  readonly inputUsdPer1m: number | null;
  readonly outputUsdPer1m: number | null;
  readonly cacheReadUsdPer1m: number | null;
  readonly cacheWriteUsdPer1m: number | null;
  /** All rates, terms and their source; `null` if there is no price. */
  readonly card: RateCard | null;
}

export type PriceList = ReturnType<typeof createPriceList>;

/** The vendor of each dialect. */
const VENDORS: ReadonlyMap<string, string> = new Map([
  ['messages', 'anthropic'],
  ['chat', 'openai'],
  ['generative', 'google'],
]);

/** The library's names of units with a rate per million. */
const TOKEN_UNITS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  input_audio: 'input_audio_mtok',
  cache_read_audio: 'cache_audio_read_mtok',
  output_audio: 'output_audio_mtok',
  input_image: 'input_image_mtok',
  cache_read_image: 'cache_image_read_mtok',
  output_image: 'output_image_mtok',
  input_video: 'input_video_mtok',
} as const satisfies Partial<Record<UnitName, string>>;
/** And those with a rate per thousand. */
const CALL_PRICES = {
  web_search: 'web_searches_kcount',
  file_search: 'storage_searches_kcount',
} as const satisfies Partial<Record<UnitName, string>>;

/** Prices that override the library's, highest precedence first. */
type Layers = readonly (readonly [PriceLayer, readonly OverlayPrice[]])[];

const layersOver = (own: readonly OverlayPrice[]): Layers => [
  ['file', own],
  ['overlay', OVERLAY],
];

/** Creates the list of the installed package; nothing is read before it is needed. */
export function createPriceList() {
  let library: PriceLibrary | undefined;
  const loaded = () => {
    // `require`, so that a request that ends before the list is loaded still gets its price.
    library ??= createRequire(import.meta.url)('@pydantic/genai-prices') as PriceLibrary;
    return library;
  };
  return {
    /** Reads the data, which takes some 100 ms once; otherwise the first look-up does. */
    load: (): void => void loaded(),
    /**
     * Returns the price of a model at a time (ms since the epoch), or `null` if it is not listed;
     * `own` are prices of the user's file.
     */
    find: (
      provider: PricedProvider,
      model: string,
      atMs: number,
      own: readonly OverlayPrice[] = [],
    ): RateCard | null => findCard(loaded(), layersOver(own), provider, model, atMs),
    /**
     * Returns all models of a vendor (`anthropic`, `openai`, `google`, …) with their prices at that
     * time; empty for an unknown vendor.
     */
    list(vendor: string, atMs: number, own: readonly OverlayPrice[] = []): ListedPrice[] {
      const provider = loaded().findProvider({ providerId: vendor });
      const layers = layersOver(own);
      const listed = (provider?.models ?? []).map((model): ListedPrice => {
        const over = layeredCard(layers, vendor, model.id, atMs);
        const { id, name = id } = model;
        if (over !== undefined) return toLine(vendor, id, name, withTerms(over, vendor, id, atMs));
        // Alone and matched by its own name: another model's pattern could match the name first.
        const singleModel = { ...provider!, models: [{ ...model, match: { equals: id } }] };
        const timestamp = new Date(atMs);
        const result = loaded().calcPrice({ input_tokens: 0 }, id, {
          provider: singleModel,
          timestamp,
        });
        const window = model.context_window;
        const card = result === null ? undefined : toCard(result.model_price, window);
        return toLine(vendor, id, name, card && withTerms(card, vendor, id, atMs), window);
      });
      const known = new Set(listed.map(({ model }) => plainName(model)));
      // Models that the library does not list, by the name in their pattern.
      for (const [layer, prices] of layers) {
        for (const price of prices.filter((one) => one.vendor === vendor || one.vendor === '*')) {
          const id = price.name ?? nameIn(price.model);
          // A model that the library lists under another of its names is already included.
          const isListed = listed.some((line) => price.model.test(plainName(line.model)));
          if (isListed || known.has(plainName(id))) continue;
          known.add(plainName(id));
          const card = layeredCard([[layer, prices]], vendor, id, atMs);
          listed.push(toLine(vendor, id, id, card && withTerms(card, vendor, id, atMs)));
        }
      }
      return listed;
    },
  };
}

/** Returns the name that a pattern matches first. */
function nameIn({ source }: RegExp): string {
  return source.replace('[12]', '2').replaceAll(/\(\?[:!][^()]{0,80}\)\??|[\^$]/g, '');
}

/**
 * Tries the vendor of the address, then the one whose dialect it speaks, then the one whose model
 * it is.
 */
function findCard(
  library: PriceLibrary,
  layers: Layers,
  provider: PricedProvider,
  model: string,
  atMs: number,
): RateCard | null {
  const vendors = new Set([
    provider.baseUrl && library.findProvider({ providerApiUrl: provider.baseUrl })?.id,
    VENDORS.get(provider.kind),
    library.findProvider({ modelId: model })?.id,
  ]);
  for (const vendor of vendors) {
    if (!vendor) continue;
    const own = layeredCard(layers.slice(0, 1), vendor, model, atMs);
    const listed =
      layeredCard(layers.slice(1), vendor, model, atMs) ??
      libraryCard(library, vendor, model, atMs);
    const card = own && listed ? withMissingRates(own, listed) : (own ?? listed);
    if (card !== undefined) return withTerms(card, vendor, model, atMs);
  }
  return layeredCard(layers, undefined, model, atMs) ?? null;
}

function layeredCard(
  layers: Layers,
  vendor: string | undefined,
  model: string,
  atMs: number,
): RateCard | undefined {
  for (const [layer, prices] of layers) {
    const overlay = overlaid(prices, vendor, model, atMs);
    if (overlay === undefined) continue;
    const { rates, terms = {}, contextWindow, source } = overlay;
    return {
      rates,
      terms,
      perRequestUsd: 0,
      ...(contextWindow !== undefined && { contextWindow }),
      layer,
      source,
    };
  }
  return undefined;
}

function libraryCard(
  library: PriceLibrary,
  vendor: string,
  model: string,
  atMs: number,
): RateCard | undefined {
  const provider = library.findProvider({ providerId: vendor });
  if (provider === undefined) return undefined;
  const timestamp = new Date(atMs);
  const result = library.calcPrice({ input_tokens: 0 }, model, { provider, timestamp });
  if (result === null) return undefined;
  return toCard(result.model_price, result.model.context_window);
}

function toCard(price: ModelPrice, contextWindow: number | undefined): RateCard {
  return {
    rates: toRates(price),
    terms: {},
    perRequestUsd: (toRate(price['requests_kcount'])?.base ?? 0) / 1000,
    ...(contextWindow !== undefined && { contextWindow }),
    layer: 'library',
    source: '@pydantic/genai-prices',
  };
}

function toRates(price: ModelPrice): Rates {
  const rates: Partial<Record<UnitName, Rate>> = {};
  for (const [unit, name] of Object.entries(TOKEN_UNITS) as [UnitName, string][]) {
    const rate = toRate(price[name]);
    if (rate !== undefined) rates[unit] = rate;
  }
  for (const [unit, name] of Object.entries(CALL_PRICES) as [UnitName, string][]) {
    const rate = toRate(price[name]);
    if (rate !== undefined) rates[unit] = scaleRate(rate, 1000);
  }
  return rates;
}

function toRate(price: ModelPrice[string]): Rate | undefined {
  if (price === undefined) return undefined;
  return typeof price === 'number' ? { base: price, tiers: [] } : price;
}

function toLine(
  vendor: string,
  model: string,
  name: string,
  card: RateCard | undefined,
  contextWindow: number | null = card?.contextWindow ?? null,
): ListedPrice {
  const usd = (unit: UnitName) => card?.rates[unit]?.base ?? null;
  return {
    vendor,
    model,
    name,
    contextWindow,
    inputUsdPer1m: usd('input'),
    outputUsdPer1m: usd('output'),
    cacheReadUsdPer1m: usd('cache_read'),
    cacheWriteUsdPer1m: usd('cache_write'),
    card: card ?? null,
  };
}
