/**
 * What a request cost, in whole nano-dollars: the sum of everything billed, each unit at the rate
 * of its model, under the terms of the answer. Prices are the user's own if configured, else the
 * public list's. A unit without a price makes the whole cost `null`: an invented price, or a
 * partial sum, would be worse than none.
 */
import { LRUCache } from 'lru-cache';
import { billedUnits } from '../../model/billed-units.ts';
import type { Usage } from '../../model/usage.ts';
import { totalInputTokens } from '../../model/usage.ts';
import type { ListedPrice, PricedProvider, PriceList } from './price-list.ts';
import { createPriceList } from './price-list.ts';
import { billOf, billOfUnits, leadingUnits } from './bill.ts';
import type { Bill } from './bill.ts';
import { OF_INPUT, flat, scaleRate } from './rate-card.ts';
import type { OverlayPrice } from './price-overlay.ts';
import type { Rate, RateCard, Rates, TermFactors } from './rate-card.ts';

/** `providers.<name>.pricing`, in dollars per million tokens, spelt as in the configuration. */
export interface PriceOverride {
  readonly input_cost_per_1m_tokens?: number;
  readonly output_cost_per_1m_tokens?: number;
  /** Rates of other units in the same form; of searches per thousand. */
  readonly rates?: Rates;
  /** Factors of terms. */
  readonly terms?: TermFactors;
}

export interface PricesOptions {
  /** By the provider's configured name. */
  readonly overrides?: ReadonlyMap<string, PriceOverride>;
  /** Prices of the user's own file, over the public list. */
  readonly own?: readonly OverlayPrice[];
  /** The public list; tests pass their own. */
  readonly list?: PriceList;
}

export type Prices = ReturnType<typeof createPrices>;

/** Prices change at most by the minute, so each price is cached for a minute. */
const MEMO_MS = 60_000;
/** Maximum number of cached models; clients can invent names. */
const MEMO_SIZE = 500;
const VENDORS = ['anthropic', 'openai', 'google'] as const;

interface Memo {
  readonly minute: number;
  readonly card: RateCard | null;
}

/** Creates prices with the user's overrides on top of the public list. */
export function createPrices(options: PricesOptions = {}) {
  const list = options.list ?? createPriceList();
  const memo = new LRUCache<string, Memo>({ max: MEMO_SIZE });

  const cardOf = (provider: PricedProvider, model: string, atMs: number): RateCard | null => {
    // No provider's name contains a line break.
    const key = `${provider.name}\n${model}`;
    const minute = Math.floor(atMs / MEMO_MS);
    const known = memo.get(key);
    if (known !== undefined && known.minute === minute) return known.card;
    const listed = list.find(provider, model, atMs, options.own);
    const card = withOverride(listed, options.overrides?.get(provider.name));
    memo.set(key, { minute, card });
    return card;
  };

  /** Looks up the answer's own card once: nearly every unit is priced by it. */
  const cardsOf = (provider: PricedProvider, model: string, atMs: number) => {
    const own = cardOf(provider, model, atMs);
    return (other: string | undefined) =>
      other === undefined ? own : cardOf(provider, other, atMs);
  };

  const billFor = (provider: PricedProvider, model: string, usage: Usage, atMs: number): Bill =>
    billOf(usage, cardsOf(provider, model, atMs), model);

  /**
   * Returns how much more `changed` would have cost than `usage`, for the answer's own tokens only.
   */
  const difference = (
    provider: PricedProvider,
    model: string,
    usage: Usage,
    changed: Usage,
    atMs: number,
  ): number | null => {
    const ownBill = (of: Usage) => billFor(provider, model, ownTokens(of), atMs);
    const [before, after] = [ownBill(usage), ownBill(changed)];
    if (before.missing.length > 0 || after.missing.length > 0) return null;
    return Math.round(after.nanoUsd - before.nanoUsd);
  };

  return {
    /**
     * Returns what the usage cost at that time, or `null` if its input is unknown or any part of it
     * has no price. Microseconds after the first call for a model.
     */
    costNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      atMs: number,
    ): number | null {
      if (totalInputTokens(usage) === null) return null;
      const { nanoUsd, missing } = billFor(provider, model, usage, atMs);
      return missing.length > 0 ? null : Math.round(nanoUsd);
    },
    /**
     * Returns the parts of the usage without a price, in words: `model gpt-6`, `web_search of
     * gpt-9`, `tier scale of gpt-5`; empty if all have one. Also the cost of the rest, which
     * budgets count as a minimum.
     */
    missingPrices(provider: PricedProvider, model: string, usage: Usage, atMs: number) {
      const { missing, nanoUsd } = billFor(provider, model, usage, atMs);
      return { missing, knownNanoUsd: Math.round(nanoUsd) };
    },
    /**
     * Returns each unit at its rate within the whole usage; null if it has no price. Without the
     * fee per request.
     */
    unitCosts(provider: PricedProvider, model: string, usage: Usage, atMs: number) {
      const cardFor = cardsOf(provider, model, atMs);
      return billedUnits(usage).map((unit) => {
        const { nanoUsd, missing } = billOfUnits([unit], usage, cardFor, model);
        return { ...unit, nanoUsd: missing.length > 0 ? null : Math.round(nanoUsd) };
      });
    },
    /**
     * Returns what `savedTokens` more input would have cost, billed like the rest of this request:
     * in the same proportions plain, cache-read and cache-written.
     */
    savedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      savedTokens: number,
      atMs: number,
    ): number | null {
      const total = totalInputTokens(usage);
      if (total === null || total === 0 || cardOf(provider, model, atMs) === null) return null;
      if (savedTokens === 0) return 0;
      const larger = scaleInput(usage, (total + savedTokens) / total);
      return difference(provider, model, usage, larger, atMs);
    },
    /**
     * Returns what the provider's prompt cache saved for this request by its own usage: the cost of
     * the input as plain input, minus its actual cost. Negative if more was written than read.
     */
    cachingNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      atMs: number,
    ): number | null {
      if (usage.cacheReadTokens === null && usage.cacheWriteTokens === null) return null;
      const plain = {
        ...usage,
        inputTokens: totalInputTokens(usage),
        cacheReadTokens: null,
        cacheWriteTokens: null,
        cacheWrite1hTokens: null,
      };
      return difference(provider, model, usage, plain, atMs);
    },
    /**
     * Returns how much more `missedTokens` of the input cost than reading them from the provider's
     * cache would have: they count as written to it, as far as there were writes, and the rest as
     * plain input.
     */
    missedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      missedTokens: number,
      atMs: number,
    ): number | null {
      if (totalInputTokens(usage) === null || cardOf(provider, model, atMs) === null) return null;
      if (missedTokens === 0) return 0;
      const written = usage.cacheWriteTokens ?? 0;
      const plain = usage.inputTokens ?? 0;
      const fromWritten = Math.min(missedTokens, written);
      const fromPlain = Math.min(missedTokens - fromWritten, plain);
      const cachedShare = written === 0 ? 0 : (written - fromWritten) / written;
      const read = {
        ...usage,
        inputTokens: plain - fromPlain,
        cacheReadTokens: (usage.cacheReadTokens ?? 0) + fromWritten + fromPlain,
        cacheWriteTokens: written - fromWritten,
        cacheWrite1hTokens: (usage.cacheWrite1hTokens ?? 0) * cachedShare,
      };
      const more = difference(provider, model, read, usage, atMs);
      return more === null ? null : Math.max(0, more);
    },
    /** Returns what `addedTokens` of the input cost, billed like the rest. */
    addedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      addedTokens: number,
      atMs: number,
    ): number | null {
      const total = totalInputTokens(usage);
      if (total === null || total === 0) return null;
      const smaller = scaleInput(usage, Math.max(0, total - addedTokens) / total);
      return difference(provider, model, smaller, usage, atMs);
    },
    /**
     * Returns the cost of the first `tokens` of the input, such as those of tools, which the model
     * reads before everything else: they count as read from the provider's cache as far as there
     * were reads, then as written to it, and the rest as plain input; at the rates of the whole
     * prompt. `null` without a price.
     */
    leadingNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      tokens: number,
      atMs: number,
    ): number | null {
      if (totalInputTokens(usage) === null) return null;
      const own = ownTokens(usage);
      const units = leadingUnits(billedUnits(own), tokens);
      const cardFor = cardsOf(provider, model, atMs);
      const { nanoUsd, missing } = billOfUnits(units, own, cardFor, model);
      return missing.length > 0 || cardFor(undefined) === null ? null : Math.round(nanoUsd);
    },
    /** Returns the context window of the model in tokens; null if not listed. */
    contextWindow: (provider: PricedProvider, model: string, atMs: number): number | null =>
      cardOf(provider, model, atMs)?.contextWindow ?? null,
    /** Returns the public list of these vendors, for `list-pricing`. */
    listPrices: (atMs: number, vendors: readonly string[] = VENDORS): ListedPrice[] =>
      vendors.flatMap((vendor) => list.list(vendor, atMs, options.own)),
  };
}

/** Returns `usage` without what is billed besides its own tokens. */
function ownTokens(usage: Usage): Usage {
  const { billing: rateTerms } = usage;
  if (rateTerms === undefined) return usage;
  const { inferences, webSearches, fileSearches, unknownUses, ...billing } = rateTerms;
  if (!inferences && !webSearches && !fileSearches && !unknownUses) return usage;
  return { ...usage, billing };
}

function scaleInput(usage: Usage, factor: number): Usage {
  const times = (tokens: number | null) => (tokens === null ? null : tokens * factor);
  return {
    ...usage,
    inputTokens: times(usage.inputTokens),
    cacheReadTokens: times(usage.cacheReadTokens),
    cacheWriteTokens: times(usage.cacheWriteTokens),
    cacheWrite1hTokens: times(usage.cacheWrite1hTokens),
  };
}

/**
 * Returns the listed price overridden by the user's own. An own input price changes the cache
 * prices in proportion if the list has them: a discount applies to all of it. Otherwise cached
 * tokens cost what input costs, which can only be too much.
 */
function withOverride(listed: RateCard | null, override: PriceOverride | undefined) {
  if (override === undefined) return listed;
  const { input_cost_per_1m_tokens: inputUsd, output_cost_per_1m_tokens: outputUsd } = override;
  const hasPrice = inputUsd !== undefined || outputUsd !== undefined;
  if (!hasPrice && override.rates === undefined && override.terms === undefined) return listed;
  // A price needs both an input and an output rate.
  if (listed === null && (inputUsd === undefined || outputUsd === undefined)) return null;
  const base = listed ?? unlisted(inputUsd ?? 0);
  const rates: { -readonly [U in keyof Rates]: Rate } = { ...base.rates };
  if (inputUsd !== undefined) {
    const listedInput = base.rates.input?.base;
    const factor =
      listedInput === undefined || listedInput === 0 ? undefined : inputUsd / listedInput;
    for (const unit of OF_INPUT) {
      const rate = base.rates[unit];
      if (rate !== undefined)
        rates[unit] = flat(factor === undefined ? inputUsd : rate.base * factor);
    }
    rates.input = flat(inputUsd);
  }
  if (outputUsd !== undefined) {
    const listedOutput = base.rates.output?.base;
    const factor = listedOutput === undefined || listedOutput === 0 ? 1 : outputUsd / listedOutput;
    for (const unit of ['output_audio', 'output_image'] as const) {
      const rate = base.rates[unit];
      if (rate !== undefined) rates[unit] = scaleRate(rate, factor);
    }
    rates.output = flat(outputUsd);
  }
  return {
    ...base,
    rates: { ...rates, ...override.rates },
    terms: { ...base.terms, ...override.terms },
    layer: 'config' as const,
  };
}

function unlisted(inputUsd: number): RateCard {
  const rate = flat(inputUsd);
  const rates = { input: rate, output: rate, cache_read: rate, cache_write: rate };
  return {
    rates: { ...rates, cache_write_1h: rate },
    terms: {},
    perRequestUsd: 0,
    layer: 'config',
  };
}
