/**
 * Usage of Google's interactions, with their own names for the figures of `usageMetadata`
 * [ai.google.dev/gemini-api/docs/interactions]: cached tokens are part of the input; tool tokens
 * are outside the input, thoughts outside the output.
 */
import type { Billing } from '../../model/billing.ts';
import type { Usage } from '../../model/usage.ts';
import { toBilling, withBilling } from '../billing.ts';
import { countOf, objectsOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { toGenerativeUsage } from './usage.ts';

const NAMES = {
  promptTokenCount: 'total_input_tokens',
  candidatesTokenCount: 'total_output_tokens',
  thoughtsTokenCount: 'total_thought_tokens',
  cachedContentTokenCount: 'total_cached_tokens',
  toolUsePromptTokenCount: 'total_tool_use_tokens',
  totalTokenCount: 'total_tokens',
  serviceTier: 'service_tier',
};

const LISTS = {
  promptTokensDetails: 'input_tokens_by_modality',
  candidatesTokensDetails: 'output_tokens_by_modality',
  cacheTokensDetails: 'cached_tokens_by_modality',
  toolUsePromptTokensDetails: 'tool_use_tokens_by_modality',
};

/** Returns true for the figures of an interaction. */
export const isInteractionUsage = (figures: JsonObject): boolean => 'total_input_tokens' in figures;

/** Normalises one such `usage` object. */
export function toInteractionUsage(figures: JsonObject): Usage {
  const same: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(NAMES))
    if (figures[own] !== undefined) same[name] = figures[own];
  for (const [name, own] of Object.entries(LISTS))
    same[name] = objectsOf(figures[own]).map(({ modality, tokens }) => ({
      modality: typeof modality === 'string' ? modality.toUpperCase() : modality,
      tokenCount: tokens,
    }));
  const usage = toGenerativeUsage(same);
  const { grounding_tool_count: grounded } = figures;
  return grounded === undefined ? usage : withBilling(usage, groundedBilling(objectsOf(grounded)));
}

/** Calls of Google's own tools: searches have a price, for the others none is published. */
function groundedBilling(counts: readonly JsonObject[]): Billing | undefined {
  let webSearches = 0;
  const unknownUses: string[] = [];
  for (const { type, count } of counts) {
    const times = countOf(count) ?? 0;
    if (type === 'google_search') webSearches += times;
    else if (times > 0) unknownUses.push(typeof type === 'string' ? type : 'grounding');
  }
  return toBilling({ webSearches, unknownUses });
}
