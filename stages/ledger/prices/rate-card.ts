/**
 * What a model costs at a given time: a rate for each unit, and the effect of terms other than the
 * usual ones.
 */
import type { UnitName } from '../../model/billed-units.ts';

/**
 * Dollars per million of a unit. A tier reprices the whole request once its input exceeds `start`
 * tokens.
 */
export interface Rate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

export type Rates = { readonly [Unit in UnitName]?: Rate };

/** Factors on every rate for tokens, by the name of the term: `fast`, `priority`, `us`, … */
export type TermFactors = Readonly<Record<string, number>>;

/** The source of a price; later ones override earlier ones. */
export type PriceLayer = 'library' | 'overlay' | 'file' | 'config';

export interface RateCard {
  readonly rates: Rates;
  readonly terms: TermFactors;
  /** Dollars per request; 0 nearly everywhere. */
  readonly perRequestUsd: number;
  /** True if audio without a rate costs what text does. */
  readonly isSoundText?: true;
  /** True if all output counts as images unless they have a rate. */
  readonly isPictures?: true;
  /** True if searches are billed once per request, however many it made. */
  readonly isSearchPerRequest?: true;
  /** The context window in tokens; absent if not listed. */
  readonly contextWindow?: number;
  readonly layer: PriceLayer;
  /** Page and date, if known. */
  readonly source?: string;
}

/**
 * Returns the rate of a unit, by the rules of providers for units without their own; undefined if
 * there is none: cached tokens cost what plain ones do, and images in the input what text does.
 * Audio, generated images, twelve-hour cache writes and tool calls have their own price or none.
 */
export function rateOf({ rates, isSoundText, isPictures }: RateCard, unit: UnitName) {
  const own = rates[unit];
  if (own !== undefined) return own;
  const { input, output, cache_read: read = input, cache_write: write = input } = rates;
  switch (unit) {
    case 'cache_read':
    case 'cache_read_image':
      return read;
    case 'cache_write':
    case 'cache_write_1h':
      return write;
    case 'input_image':
    case 'input_video':
      return input;
    case 'input_audio':
      return isSoundText ? input : undefined;
    case 'cache_read_audio':
      return isSoundText ? read : rates.input_audio;
    case 'output_image':
      return isPictures ? output : undefined;
    default:
      return undefined;
  }
}

/** Makes a rate without tiers. */
export function flat(usdPerMillion: number): Rate {
  return { base: usdPerMillion, tiers: [] };
}

/** Returns `rate` times `factor`, in each tier. */
export function scaleRate(rate: Rate, factor: number): Rate {
  return {
    base: rate.base * factor,
    tiers: rate.tiers.map(({ start, price }) => ({ start, price: price * factor })),
  };
}

/** Returns dollars per million of a unit in a request with so many input tokens. */
export function rateAt({ base, tiers }: Rate, promptTokens: number): number {
  if (tiers.length === 0) return base;
  return tiers.findLast(({ start }) => promptTokens > start)?.price ?? base;
}

/** Units whose rates follow an own input price. */
export const OF_INPUT = [
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'cache_write_12h',
  'input_audio',
  'input_image',
  'input_video',
  'cache_read_audio',
  'cache_read_image',
] as const;

/**
 * Completes an own card from the card `below` of the same model, in proportion to the price of
 * input.
 */
export function withMissingRates(own: RateCard, below: RateCard): RateCard {
  const [now, was] = [own.rates.input?.base, below.rates.input?.base];
  const rates: { -readonly [U in keyof Rates]: Rate } = { ...own.rates };
  if (now !== undefined && was !== undefined && was > 0)
    for (const unit of OF_INPUT) {
      const rate = below.rates[unit];
      if (rate !== undefined) rates[unit] ??= flat((rate.base * now) / was);
    }
  return { ...own, rates, terms: { ...below.terms, ...own.terms } };
}
