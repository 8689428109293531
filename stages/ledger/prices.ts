/**
 * What a request cost, in whole nano-dollars: the user's own prices where the
 * configuration has them, else the public list. A model in neither costs
 * `null`: an invented price would be worse than none.
 */
import { LRUCache } from 'lru-cache';
import type { Usage } from '../model/usage.ts';
import { totalInputTokens } from '../model/usage.ts';
import type { ListedPrice, PricedProvider, PriceList, Rate, RateCard } from './price-list.ts';
import { createPriceList } from './price-list.ts';

/** `providers.<name>.pricing`, in dollars per million tokens, spelt as in the configuration. */
export interface PriceOverride {
  readonly input_cost_per_1m_tokens?: number;
  readonly output_cost_per_1m_tokens?: number;
}

export interface PricesOptions {
  /** By the provider's configured name. */
  readonly overrides?: ReadonlyMap<string, PriceOverride>;
  /** The public list; tests give their own. */
  readonly list?: PriceList;
}

export type Prices = ReturnType<typeof createPrices>;

/** Prices change at most by the minute; a minute is what a looked-up price is trusted for. */
const MEMO_MS = 60_000;
/** Models remembered; clients can invent names. */
const MEMO_SIZE = 500;
/** One dollar per million tokens is 1,000 nano-dollars a token. */
const NANO_PER_TOKEN = 1000;
const VENDORS = ['anthropic', 'openai', 'google'] as const;

interface Memo {
  readonly minute: number;
  readonly card: RateCard | null;
}

/** Prices with the user's overrides on top of the public list. */
export function createPrices(options: PricesOptions = {}) {
  const list = options.list ?? createPriceList();
  const memo = new LRUCache<string, Memo>({ max: MEMO_SIZE });

  const cardOf = (provider: PricedProvider, model: string, atMs: number): RateCard | null => {
    // No provider's name holds a line break.
    const key = `${provider.name}\n${model}`;
    const minute = Math.floor(atMs / MEMO_MS);
    const known = memo.get(key);
    if (known !== undefined && known.minute === minute) return known.card;
    const listed = list.find(provider, model, atMs);
    const card = withOverride(listed, options.overrides?.get(provider.name));
    memo.set(key, { minute, card });
    return card;
  };

  return {
    /** What the usage cost at that moment, or `null` if the model or its input is unknown. Microseconds after the first call for a model. */
    costNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      atMs: number,
    ): number | null {
      if (totalInputTokens(usage) === null) return null;
      const card = cardOf(provider, model, atMs);
      return card === null ? null : Math.round(costOf(card, usage));
    },
    /**
     * What `savedTokens` more of input would have cost, had they been billed like the rest of this
     * request: in the same proportions plain, cache-read and cache-written.
     */
    savedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      savedTokens: number,
      atMs: number,
    ): number | null {
      const total = totalInputTokens(usage);
      const card = cardOf(provider, model, atMs);
      if (card === null || total === null || total === 0) return null;
      if (savedTokens === 0) return 0;
      const larger = scaleInput(usage, (total + savedTokens) / total);
      return Math.round(costOf(card, larger) - costOf(card, usage));
    },
    /**
     * What the provider's prompt cache saved of this request by its own usage: what the input would
     * have cost as plain input, less what it cost. Negative where more was written than read.
     */
    cachingNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      atMs: number,
    ): number | null {
      const card = cardOf(provider, model, atMs);
      if (card === null || (usage.cacheReadTokens === null && usage.cacheWriteTokens === null))
        return null;
      const plain = {
        ...usage,
        inputTokens: totalInputTokens(usage),
        cacheReadTokens: null,
        cacheWriteTokens: null,
        cacheWrite1hTokens: null,
      };
      return Math.round(costOf(card, plain) - costOf(card, usage));
    },
    /**
     * What `missedTokens` of the input cost more than reading them from the provider's cache would
     * have: they were written to it, as far as anything was, and the rest was plain input.
     */
    missedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      missedTokens: number,
      atMs: number,
    ): number | null {
      const card = cardOf(provider, model, atMs);
      if (card === null || totalInputTokens(usage) === null) return null;
      const written = usage.cacheWriteTokens ?? 0;
      const plain = usage.inputTokens ?? 0;
      const fromWritten = Math.min(missedTokens, written);
      const fromPlain = Math.min(missedTokens - fromWritten, plain);
      const kept = written === 0 ? 0 : (written - fromWritten) / written;
      const read = {
        ...usage,
        inputTokens: plain - fromPlain,
        cacheReadTokens: (usage.cacheReadTokens ?? 0) + fromWritten + fromPlain,
        cacheWriteTokens: written - fromWritten,
        cacheWrite1hTokens: (usage.cacheWrite1hTokens ?? 0) * kept,
      };
      return Math.max(0, Math.round(costOf(card, usage) - costOf(card, read)));
    },
    /** What `addedTokens` of the input cost, had they been billed like the rest, likewise. */
    addedNanoUsd(
      provider: PricedProvider,
      model: string,
      usage: Usage,
      addedTokens: number,
      atMs: number,
    ): number | null {
      const total = totalInputTokens(usage);
      const card = cardOf(provider, model, atMs);
      if (card === null || total === null || total === 0) return null;
      const smaller = scaleInput(usage, Math.max(0, total - addedTokens) / total);
      return Math.round(costOf(card, usage) - costOf(card, smaller));
    },
    /** Tokens that the model reads at most; null where that is not listed. */
    contextWindow: (provider: PricedProvider, model: string, atMs: number): number | null =>
      cardOf(provider, model, atMs)?.contextWindow ?? null,
    /** The public list of these vendors, for `list-pricing`. */
    listPrices: (atMs: number, vendors: readonly string[] = VENDORS): ListedPrice[] =>
      vendors.flatMap((vendor) => list.list(vendor, atMs)),
  };
}

/** Nano-dollars, with a fraction. Each token is billed once: the parts of a `Usage` do not overlap. */
function costOf(card: RateCard, usage: Usage): number {
  const total = totalInputTokens(usage) ?? 0;
  const write1h = Math.min(usage.cacheWrite1hTokens ?? 0, usage.cacheWriteTokens ?? 0);
  const write = (usage.cacheWriteTokens ?? 0) - write1h;
  const usdPerMillion =
    (usage.inputTokens ?? 0) * rateAt(card.input, total) +
    (usage.cacheReadTokens ?? 0) * rateAt(card.cacheRead, total) +
    write * rateAt(card.cacheWrite, total) +
    write1h * rateAt(card.cacheWrite1h, total) +
    (usage.outputTokens ?? 0) * rateAt(card.output, total);
  return usdPerMillion * NANO_PER_TOKEN + card.perRequestUsd * 1e9;
}

function rateAt(rate: Rate, totalInput: number): number {
  return rate.tiers.findLast((tier) => totalInput > tier.start)?.price ?? rate.base;
}

function scaleInput(usage: Usage, factor: number): Usage {
  const scaled = (tokens: number | null) => (tokens === null ? null : tokens * factor);
  return {
    ...usage,
    inputTokens: scaled(usage.inputTokens),
    cacheReadTokens: scaled(usage.cacheReadTokens),
    cacheWriteTokens: scaled(usage.cacheWriteTokens),
    cacheWrite1hTokens: scaled(usage.cacheWrite1hTokens),
  };
}

/**
 * The listed price with the user's own in its place. An own input price moves the cache
 * prices in proportion where the list knows them: a discount is on all of it. Where it
 * does not, cached tokens cost what input costs, which can only be too much.
 */
function withOverride(listed: RateCard | null, override: PriceOverride | undefined) {
  if (override === undefined) return listed;
  const { input_cost_per_1m_tokens: inputUsd, output_cost_per_1m_tokens: outputUsd } = override;
  if (inputUsd === undefined && outputUsd === undefined) return listed;
  // Half a price is none.
  if (listed === null && (inputUsd === undefined || outputUsd === undefined)) return null;
  const output = outputUsd === undefined ? undefined : flat(outputUsd);
  const base = listed ?? unlisted(inputUsd ?? 0);
  if (inputUsd === undefined) return { ...base, ...(output && { output }) };
  const factor = base.input.base === 0 ? undefined : inputUsd / base.input.base;
  const moved = (rate: Rate) => flat(factor === undefined ? inputUsd : rate.base * factor);
  return {
    ...base,
    input: flat(inputUsd),
    cacheRead: moved(base.cacheRead),
    cacheWrite: moved(base.cacheWrite),
    cacheWrite1h: moved(base.cacheWrite1h),
    ...(output && { output }),
  };
}

function unlisted(inputUsd: number): RateCard {
  const rate = flat(inputUsd);
  return {
    input: rate,
    output: rate,
    cacheRead: rate,
    cacheWrite: rate,
    cacheWrite1h: rate,
    perRequestUsd: 0,
  };
}

function flat(usdPerMillion: number): Rate {
  return { base: usdPerMillion, tiers: [] };
}
