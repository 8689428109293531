/**
 * Usage in chat-completions answers, which count cached tokens inside the prompt. Providers of this
 * dialect disagree on names; the ones known from their answers are read.
 */
import type { Usage } from '../../model/usage.ts';
import { modalBilling, unknownCounters, withBilling, withTier } from '../billing.ts';
import { countOf, isObject, objectOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { splitInput } from '../split-input.ts';

/** Normalises one `usage` object, of a chat completion, a legacy completion or an embedding. */
export function toChatUsage(figures: JsonObject): Usage {
  const inputDetails = objectOf(figures['prompt_tokens_details']);
  const outputDetails = objectOf(figures['completion_tokens_details']);
  const reasoning = countOf(outputDetails['reasoning_tokens']);
  const prompt = countOf(figures['prompt_tokens']);
  const total = countOf(figures['total_tokens']);
  const completion = countOf(figures['completion_tokens']);
  const cached =
    countOf(inputDetails['cached_tokens']) ??
    countOf(figures['prompt_cache_hit_tokens']) ??
    countOf(figures['cached_tokens']) ??
    countOf(figures['num_cached_tokens']);
  const usage = splitInput(figures, {
    input: prompt,
    cacheRead: cached,
    cacheWrite: countOf(inputDetails['cache_write_tokens']),
    output: outputOf(prompt, completion, reasoning, total),
    reasoning,
  });
  const searched = searchesOf(figures);
  return withBilling(
    withBilling(
      withBilling(usage, modalBilling(inputDetails, outputDetails)),
      unknownCounters(figures),
    ),
    searched === 0 ? undefined : { webSearches: searched },
  );
}

/** Returns the searches that the server made, under its own counter's name. */
function searchesOf(figures: JsonObject): number {
  const { num_search_queries: queries, server_tool_use: tools } = figures;
  if (queries === undefined && tools === undefined) return 0;
  return countOf(queries) ?? countOf(objectOf(tools)['web_search_requests']) ?? 0;
}

/** Some providers count reasoning outside the completion, which shows in their total. */
function outputOf(
  prompt: number | null,
  completion: number | null,
  reasoning: number | null,
  total: number | null,
): number | null {
  if (completion === null) {
    return prompt === null || total === null ? null : Math.max(0, total - prompt);
  }
  const isBeside = reasoning !== null && total === (prompt ?? 0) + completion + reasoning;
  return isBeside ? completion + reasoning : completion;
}

const SEARCHER = /^gpt-.{1,20}-search-(?:preview|api)/;

export const chatReader: AnswerReader = Object.freeze({
  needles: [Buffer.from('_tokens')],
  paths: [['usage'], ['model'], ['x_groq', 'usage'], ['service_tier']],
  ends: { first: 'model', last: 'usage', near: 'service_tier' },
  read(answer: Answer, [usage, model, extraUsage, named]: readonly unknown[]): void {
    const figures = usage ?? extraUsage;
    const tier = answer.usage.billing?.tier;
    if (isObject(figures)) answer.usage = toChatUsage(figures);
    answer.usage = withTier(answer.usage, named, tier);
    if (typeof model === 'string' && model !== '') answer.model = model;
    // Such a model searches with every answer, at a separate price, and does not report it.
    if (answer.model !== undefined && SEARCHER.test(answer.model))
      answer.usage = withBilling(answer.usage, { unknownUses: ['searches'] });
  },
  // Many servers never send `[DONE]`, and some send an empty reason with every chunk.
  ending: /^data: ?\[DONE\]|"finish_reason"\s*:\s*"[^"]/m,
  failure: /^event: ?error|^data: ?\{\s*"error"\s*:\s*"|"error"\s*:\s*\{\s*"/m,
});
