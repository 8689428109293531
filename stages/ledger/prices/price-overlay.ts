/**
 * Prices that the library lacks or has wrong, and the factors of other terms, which it does not
 * have: each with its source and the day it was read. A price applies from its day until the next
 * one of the same models. Facts about prices of cached input are in `model-facts` only.
 */
import type { UnitName } from '../../model/billed-units.ts';
import { factsOf } from '../../model/model-facts.ts';
import type { Rate, RateCard, Rates, TermFactors } from './rate-card.ts';
import { flat, scaleRate } from './rate-card.ts';

/** A price for models of one vendor, or of any for `*`. */
export interface OverlayPrice {
  readonly vendor: string;
  readonly model: RegExp;
  /** The first day, `YYYY-MM-DD` in UTC; a model's first price also applies before it. */
  readonly since: string;
  readonly rates: Rates;
  readonly terms?: TermFactors;
  readonly contextWindow?: number;
  readonly source: string;
  /** Its name in tables, if the pattern does not give it. */
  readonly name?: string;
}

interface Tier {
  readonly start: number;
  readonly input: number;
  readonly output: number;
}

const PRICING = 'platform.claude.com, pricing, read 2026-11-26';

/**
 * A Claude model by its two rates: writes cost 1.25 and 2 times the input [platform.claude.com,
 * prompt-caching].
 */
function claude(
  model: string,
  since: string,
  [input, output]: readonly [number, number],
  source: string,
  { read = factsOf(model).readPrice, tier }: { read?: number; tier?: Tier } = {},
): OverlayPrice {
  const plain = rateWithTier(input, tier && { start: tier.start, price: tier.input });
  const rates: Rates = {
    input: plain,
    output: rateWithTier(output, tier && { start: tier.start, price: tier.output }),
    cache_read: scaleRate(plain, read),
    cache_write: scaleRate(plain, 1.25),
    cache_write_1h: scaleRate(plain, 2),
    web_search: SEARCH,
  };
  const pattern = new RegExp(`${model}(?!-?\\d)`);
  return { vendor: 'anthropic', model: pattern, since, rates, contextWindow: MILLION, source };
}

function rateWithTier(
  base: number,
  tier?: { readonly start: number; readonly price: number },
): Rate {
  return { base, tiers: tier === undefined ? [] : [tier] };
}

/**
 * $10 per thousand searches [platform.claude.com, pricing; developers.openai.com, pricing,
 * 2026-11].
 */
const SEARCH = flat(10_000);
/** $2.50 per thousand [developers.openai.com, pricing, 2026-11, as the library has it]. */
const FILE_SEARCH = flat(2500);
const MILLION = 1_000_000;

/**
 * A GPT from version 6 on: above 272,000 input tokens, input costs twice as much and output one and
 * a half times.
 */
function gpt(
  name: string,
  since: string,
  [input, output]: readonly [number, number],
  source: string,
): OverlayPrice {
  const long = (usd: number, factor: number) =>
    rateWithTier(usd, { start: 272_000, price: usd * factor });
  const rates: Rates = {
    input: long(input, 2),
    cache_read: long(input * factsOf(name).readPrice, 2),
    cache_write: long(input * 1.25, 2),
    cache_write_12h: long(input * 2.5, 2),
    output: long(output, 1.5),
    web_search: SEARCH,
    file_search: FILE_SEARCH,
  };
  const model = new RegExp(`^${plainName(name)}$`);
  return { vendor: 'openai', model, since, rates, contextWindow: 1_050_000, source, name };
}

function tieredRate(first: number, ...prices: readonly number[]): Rate {
  const starts = [32_000, 128_000, 256_000];
  return { base: first, tiers: prices.map((price, at) => ({ start: starts[at]!, price })) };
}

const SOL = 'developers.openai.com, models/gpt-6.2-sol, read 2026-11-26';

/** Equal models in order of days. */
export const OVERLAY: readonly OverlayPrice[] = [
  claude('claude-fable-5-2', '2026-11-09', [8, 40], `${PRICING}; docs of resellers, 2026-11-10`),
  claude('claude-mythos-5-2', '2026-11-09', [8, 40], `${PRICING}, as Fable 5.2`),
  claude('claude-mythos-5-1', '2026-09-01', [10, 50], PRICING),
  claude('claude-mythos-5', '2026-06-09', [10, 50], PRICING),
  claude('claude-haiku-5-5', '2026-10-07', [0.1, 0.5], `${PRICING}; models/haiku-5-5`, {
    tier: { start: 100_000, input: 0.5, output: 2.5 },
  }),
  claude('claude-sonnet-5-5', '2026-09-22', [2, 10], `${PRICING}; first day from memory`, {
    read: 0.1,
  }),
  claude('claude-sonnet-5-5', '2026-10-07', [2, 10], `${PRICING}: reads at half their price`),
  claude('claude-sonnet-4(?:-0)?', '2025-08-12', [3, 15], 'platform.claude.com, pricing, 2026', {
    tier: { start: 200_000, input: 6, output: 22.5 },
  }),
  gpt('gpt-6.1-sol', '2026-09-29', [2, 10], 'docs of resellers, read 2026-11-26'),
  gpt('gpt-6.2-sol', '2026-11-01', [2, 10], `${SOL}; first day from memory`),
  gpt('gpt-6.1-terra', '2026-10-26', [1, 5], 'OpenAI’s pricing page by trackers, 2026-10-27'),
  {
    vendor: 'alibaba',
    model: /^qwen3-coder-plus/,
    since: '2025-07-22',
    rates: {
      input: tieredRate(1, 1.8, 3, 6),
      output: tieredRate(5, 9, 15, 60),
      cache_read: tieredRate(0.2, 0.36, 0.6, 1.2),
      cache_write: tieredRate(1.25, 2.25, 3.75, 7.5),
    },
    contextWindow: MILLION,
    source: 'alibabacloud.com, model-studio, international, by models.dev, read 2026-11-26',
  },
];

/** Rates that a listed model lacks: audio of models whose listed price is that of text. */
const ADDED: readonly Omit<OverlayPrice, 'since'>[] = [
  {
    vendor: 'openai',
    model: /^gpt-4o-audio/,
    rates: { input_audio: flat(40), output_audio: flat(80) },
    source: 'openai.com, pricing, from memory, 2026-11',
  },
  {
    vendor: 'openai',
    model: /^gpt-4o-mini-audio/,
    rates: { input_audio: flat(10), output_audio: flat(20) },
    source: 'openai.com, pricing, from memory, 2026-11',
  },
  {
    vendor: 'google',
    model: /^gemini-[3-9]/,
    rates: { web_search: flat(14_000) },
    source: 'ai.google.dev, pricing: $14 for 1,000 queries, by forum and trackers, 2026-11',
  },
  {
    vendor: 'google',
    model: /^gemini-[12]/,
    rates: { web_search: flat(35_000) },
    source: 'ai.google.dev, pricing: $35 for 1,000 grounded prompts, 2026-11',
  },
  { vendor: 'anthropic', model: /./, rates: { web_search: SEARCH }, source: PRICING },
  {
    vendor: 'openai',
    model: /./,
    rates: { web_search: SEARCH, file_search: FILE_SEARCH },
    source: 'developers.openai.com, pricing, 2026-11',
  },
];

/** How terms change the rates of some models. */
interface Terms {
  readonly vendor: string;
  readonly model: RegExp;
  readonly terms: TermFactors;
  readonly since?: string;
  readonly source: string;
}

const FAST = 'platform.claude.com, fast-mode, read 2026-11-26';
const PRIORITY = 'openai.com, api-fast-mode, api-priority-processing, read 2026-11-26';
const ALL = /./;

/**
 * Later entries override earlier ones. A tier that is only sold by contract (`scale`, Anthropic's
 * `priority`, `provisioned_throughput`) has none.
 */
const TERMS: readonly Terms[] = [
  { vendor: 'anthropic', model: ALL, terms: { us: 1.1, batch: 0.5 }, source: PRICING },
  {
    vendor: 'anthropic',
    model: /opus-(?:4-8|5)|(?:fable|mythos)-5-2/,
    terms: { fast: 2 },
    source: FAST,
  },
  {
    vendor: 'anthropic',
    model: /opus-4-[67]/,
    terms: { fast: 6 },
    source: 'platform.claude.com, fast-mode, spring 2026; Opus 4.7 from memory',
  },
  {
    vendor: 'openai',
    model: ALL,
    terms: { flex: 0.5, batch: 0.5 },
    source: 'developers.openai.com, pricing, 2026-11',
  },
  {
    vendor: 'openai',
    model: /^gpt-(?:5(?!-(?:pro|nano))|[6-9])/,
    terms: { priority: 2, fast: 2 },
    source: PRIORITY,
  },
  {
    vendor: 'openai',
    model: /^gpt-5-5(?!-pro)/,
    terms: { priority: 2.5, fast: 2.5 },
    source: PRIORITY,
  },
  { vendor: 'openai', model: /^gpt-5-mini/, terms: { priority: 1.8, fast: 1.8 }, source: PRIORITY },
  {
    vendor: 'openai',
    model: /^(?:gpt-4-1(?!-nano)|o3)/,
    terms: { priority: 1.75, fast: 1.75 },
    source: `${PRIORITY}; o3 from memory`,
  },
  {
    vendor: 'openai',
    model: /^gpt-4o(?!-(?:mini|audio|realtime|search|transcribe))/,
    terms: { priority: 1.7, fast: 1.7 },
    source: 'openai.com, pricing, from memory, 2026-11',
  },
  { vendor: 'openai', model: /^gpt-6/, terms: { ultrafast: 6 }, source: `${SOL}; gpt-6.1 by docs` },
  { vendor: 'openai', model: /^gpt-6-2-sol$/, terms: { ultrafast: 3 }, source: SOL },
  {
    vendor: 'openai',
    model: /^gpt-6-2-sol$/,
    since: '2027-03-01',
    terms: { ultrafast: 6 },
    source: SOL,
  },
  {
    vendor: 'google',
    model: ALL,
    terms: { flex: 0.5, batch: 0.5, priority: 1.8 },
    source: 'ai.google.dev, optimization: +75 to +100 %; 1.8 by resellers, read 2026-11-26',
  },
  {
    vendor: 'groq',
    model: ALL,
    terms: { flex: 1 },
    source: 'console.groq.com, from memory, 2026-11',
  },
];

/**
 * Returns the name of a model without the additions of resellers, dates and windows, with hyphens
 * for dots.
 */
export function plainName(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/\[1m\]$/, '')
    .replace(/[@:].*/s, '')
    .replaceAll('.', '-')
    .replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '')
    .replace(/^.*(?=claude-)/, '');
}

/** Returns the price of `model` at `atMs` from `prices`; of any vendor if none is named. */
export function overlaid(
  prices: readonly OverlayPrice[],
  vendor: string | undefined,
  model: string,
  atMs: number,
): OverlayPrice | undefined {
  const name = plainName(model);
  const matching = prices.filter(
    (one) =>
      (vendor === undefined || one.vendor === vendor || one.vendor === '*') && one.model.test(name),
  );
  return matching.findLast(({ since }) => Date.parse(since) <= atMs) ?? matching[0];
}

/** Adds the rates that a model's card lacks, and its terms. */
export function withTerms(card: RateCard, vendor: string, model: string, atMs: number): RateCard {
  const name = plainName(model);
  const appliesTo = (one: { readonly vendor: string; readonly model: RegExp }) =>
    one.vendor === vendor && one.model.test(name);
  const added = ADDED.filter(appliesTo).toReversed();
  const terms = TERMS.filter(
    (one) => appliesTo(one) && Date.parse(one.since ?? '2000-01-01') <= atMs,
  );
  const rates: Partial<Record<UnitName, Rate>> = {};
  for (const one of added) Object.assign(rates, one.rates);
  return {
    ...card,
    rates: { ...rates, ...card.rates },
    terms: Object.assign({}, ...terms.map((one) => one.terms), card.terms) as TermFactors,
    // If Google charges more for audio, the list says so [ai.google.dev, pricing].
    ...(vendor === 'google' && { isSoundText: true }),
    ...(/image/.test(name) && { isPictures: true }),
    ...(vendor === 'google' && /^gemini-[12]/.test(name) && { isSearchPerRequest: true }),
  };
}
