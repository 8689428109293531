/**
 * Usage in generative answers. The prompt includes cached tokens, while tool results that
 * the provider fetched itself and thoughts are counted beside prompt and candidates.
 */
import type { Usage } from '../../model/usage.ts';
import { countOf, isObject } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { splitInput } from '../split-input.ts';

/** Normalises one `usageMetadata` object. */
export function toGenerativeUsage(figures: JsonObject): Usage {
  const prompt = countOf(figures['promptTokenCount']);
  const fetched = countOf(figures['toolUsePromptTokenCount']);
  const total = countOf(figures['totalTokenCount']);
  const candidates = countOf(figures['candidatesTokenCount']);
  const thoughts = countOf(figures['thoughtsTokenCount']);
  const input = prompt === null ? null : prompt + (fetched ?? 0);
  const isCounted = candidates !== null || thoughts !== null;
  const rest = input === null || total === null ? null : Math.max(0, total - input);
  return splitInput(figures, {
    input,
    cacheRead: countOf(figures['cachedContentTokenCount']),
    cacheWrite: null,
    output: isCounted ? (candidates ?? 0) + (thoughts ?? 0) : rest,
    reasoning: thoughts,
  });
}

export const generativeReader: AnswerReader = Object.freeze({
  // Text may hold them too: such an event is parsed for nothing, since only the paths count.
  needles: [Buffer.from('TokenCo'), Buffer.from('finishR')],
  paths: [
    ['usageMetadata'],
    ['modelVersion'],
    ['candidates', 0, 'finishReason'],
    ['promptFeedback', 'blockReason'],
  ],
  read(answer: Answer, [usage, model, reason, blocked]: readonly unknown[]): void {
    // Some chunks have only a traffic type in here; figures are totals, so the last ones count.
    if (
      isObject(usage) &&
      typeof (usage['promptTokenCount'] ?? usage['totalTokenCount']) === 'number'
    ) {
      answer.usage = toGenerativeUsage(usage);
    }
    if (typeof model === 'string' && model !== '') answer.model = model;
    if (typeof reason === 'string' || typeof blocked === 'string') answer.terminated = true;
  },
  ending: /"(?:finishReason|blockReason)"\s*:\s*"[^"]/,
  failure: /^event: ?error|^data: ?\{\s*"error"\s*:\s*\{/m,
});
