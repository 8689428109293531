/**
 * The total usage of many answers, such as batch results: counts are summed, and billed units are
 * kept per model and per prompt length, since many models cost more above a threshold.
 */
import type { Billing, Inference, RateTerms } from '../model/billing.ts';
import { emptyUsage, totalInputTokens } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { toBilling } from './billing.ts';

/** No threshold of a price list is between two multiples of it. */
const PROMPT_STEP = 1000;
/**
 * Providers name a handful of models, though a server may invent any number; prompts of one have
 * some thousand lengths.
 */
const MAX_PARTS = 20_000;
/** The terms of the sum if its parts were served under different ones. */
const MIXED = 'mixed';

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;
const EXTRAS = [
  'inputAudioTokens',
  'inputImageTokens',
  'inputVideoTokens',
  'cacheReadAudioTokens',
  'cacheReadImageTokens',
  'outputAudioTokens',
  'outputImageTokens',
  'cacheWrite12hTokens',
  'webSearches',
  'fileSearches',
] as const satisfies readonly (keyof Billing)[];

type Part = { -readonly [K in keyof Inference]: Inference[K] };

export type UsageSum = ReturnType<typeof createUsageSum>;

/** Creates an empty sum. `tier` is the tier of all its answers. */
export function createUsageSum(tier: string) {
  const parts = new Map<string, Part>();
  const extras = new Map<(typeof EXTRAS)[number], number>();
  const unknown = new Set<string>();
  let terms: RateTerms | undefined;
  let isMixed = false;
  let reasoning: number | null = null;
  let first: string | undefined;
  let count = 0;

  return {
    /** Returns the model of the first answer. */
    model: (): string | undefined => first,
    /** Adds one answer of `model`. */
    add(model: string | undefined, usage: Usage): void {
      count += 1;
      first ??= model;
      const { billing, reasoningTokens } = usage;
      const { speed, geo } = billing ?? {};
      terms ??= { ...(speed && { speed }), ...(geo && { geo }) };
      isMixed ||= terms.speed !== speed || terms.geo !== geo;
      if (reasoningTokens !== null) reasoning = (reasoning ?? 0) + reasoningTokens;
      for (const name of EXTRAS)
        if (billing?.[name]) extras.set(name, (extras.get(name) ?? 0) + billing[name]);
      for (const name of billing?.unknownUses ?? []) unknown.add(name);
      // Audio and images can only be moved between units of the answer's own model.
      if (model !== first && EXTRAS.some((name) => billing?.[name])) isMixed = true;
      for (const each of billing?.inferences ?? [])
        if (!each.isInTotal) addPart(each.model ?? model, each, false);
      if (billing?.isUnbilled === true) return;
      addPart(
        model,
        {
          inputTokens: usage.inputTokens ?? 0,
          outputTokens: usage.outputTokens ?? 0,
          cacheReadTokens: usage.cacheReadTokens ?? 0,
          cacheWriteTokens: usage.cacheWriteTokens ?? 0,
          cacheWrite1hTokens: usage.cacheWrite1hTokens ?? 0,
        },
        true,
      );
    },
    /** Notes an answer without usage. */
    addUnread(what: string): void {
      count += 1;
      unknown.add(what);
    },
    /** Returns the total; nothing is measured if nothing was added. */
    usage(): Usage {
      if (count === 0) return emptyUsage;
      const own = [...parts.values()].filter(({ isInTotal }) => isInTotal);
      const sum = (name: (typeof COUNTS)[number] | 'cacheWrite1hTokens'): number =>
        own.reduce((total, part) => total + part[name], 0);
      const billing = toBilling({
        ...terms,
        tier: isMixed ? MIXED : tier,
        inferences: [...parts.values()],
        unknownUses: [...unknown],
        ...Object.fromEntries(extras),
      });
      return {
        ...emptyUsage,
        ...Object.fromEntries(COUNTS.map((name) => [name, sum(name)])),
        cacheWrite1hTokens: sum('cacheWrite1hTokens'),
        reasoningTokens: reasoning,
        ...(billing && { billing }),
      };
    },
  };

  function addPart(
    model: string | undefined,
    counts: Omit<Inference, 'model' | 'isInTotal'>,
    isInTotal: boolean,
  ): void {
    const prompt = totalInputTokens({ ...emptyUsage, ...counts }) ?? 0;
    const promptTokens = Math.ceil(prompt / PROMPT_STEP) * PROMPT_STEP;
    let key = `${isInTotal} ${promptTokens} ${model ?? ''}`;
    if (!parts.has(key) && parts.size >= MAX_PARTS) {
      isMixed = true;
      key = [...parts.keys()].at(-1)!;
    }
    const part = parts.get(key) ?? {
      model: model === first ? undefined : model,
      isInTotal,
      promptTokens,
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    };
    part.inputTokens += counts.inputTokens;
    part.outputTokens += counts.outputTokens;
    part.cacheReadTokens += counts.cacheReadTokens;
    part.cacheWriteTokens += counts.cacheWriteTokens;
    part.cacheWrite1hTokens += counts.cacheWrite1hTokens;
    parts.set(key, part);
  }
}
