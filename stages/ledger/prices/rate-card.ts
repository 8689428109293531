/** What a model costs at a moment: a rate for each unit, and what other terms than the usual ones make of it. */
import type { UnitName } from '../../model/billed-units.ts';

/** Dollars for a million of a unit. A tier reprices the whole request once its input exceeds `start` tokens. */
export interface Rate {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

export type Rates = { readonly [Unit in UnitName]?: Rate };

/** Factors on every rate for tokens, by the name of the term: `fast`, `priority`, `us`, … */
export type TermFactors = Readonly<Record<string, number>>;

/** Where a price is from, later ones over earlier ones. */
export type PriceLayer = 'library' | 'overlay' | 'file' | 'config';

export interface RateCard {
  readonly rates: Rates;
  readonly terms: TermFactors;
  /** Dollars for a request as such; 0 nearly everywhere. */
  readonly perRequestUsd: number;
  /** True where sound costs what text does unless it has a rate. */
  readonly isSoundText?: true;
  /** True where all that is written is pictures unless they have a rate. */
  readonly isPictures?: true;
  /** True where searches are billed once for a request, however many it made. */
  readonly isSearchPerRequest?: true;
  /** Tokens that the model reads at most; absent where that is not listed. */
  readonly contextWindow?: number;
  readonly layer: PriceLayer;
  /** Page and day, where they are known. */
  readonly source?: string;
}

/**
 * The rate of a unit, by the rules of providers for what has none of its own; undefined where there is
 * none: cached tokens cost what plain ones do, and pictures in the input what text does. Sound, pictures
 * that are written, writes for twelve hours and calls of tools have a price of their own or none.
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

/** A rate that nothing changes. */
export function flat(usdPerMillion: number): Rate {
  return { base: usdPerMillion, tiers: [] };
}

/** `rate` times `factor`, in each tier. */
export function scaled(rate: Rate, factor: number): Rate {
  return {
    base: rate.base * factor,
    tiers: rate.tiers.map(({ start, price }) => ({ start, price: price * factor })),
  };
}

/** Dollars for a million of a unit in a request whose input has so many tokens. */
export function rateAt({ base, tiers }: Rate, promptTokens: number): number {
  if (tiers.length === 0) return base;
  return tiers.findLast(({ start }) => promptTokens > start)?.price ?? base;
}

/** Units whose rates an own price of input moves along. */
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

/** An own card with what it does not say from the one `below`: of the same model, in proportion to the price of input. */
export function completed(own: RateCard, below: RateCard): RateCard {
  const [now, was] = [own.rates.input?.base, below.rates.input?.base];
  const rates: { -readonly [U in keyof Rates]: Rate } = { ...own.rates };
  if (now !== undefined && was !== undefined && was > 0)
    for (const unit of OF_INPUT) {
      const rate = below.rates[unit];
      if (rate !== undefined) rates[unit] ??= flat((rate.base * now) / was);
    }
  return { ...own, rates, terms: { ...below.terms, ...own.terms } };
}
