/**
 * Usage in generative answers. The prompt includes cached tokens; tool results that the provider
 * fetched itself, and thoughts, are counted outside prompt and candidates.
 */
import type { Usage } from '../../model/usage.ts';
import { USUAL, isStandard, modalities, termOf, toBilling, withBilling } from '../billing.ts';
import { countOf, isObject, listOf, objectsOf } from '../json-kind.ts';
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
  const usage = splitInput(figures, {
    input,
    cacheRead: countOf(figures['cachedContentTokenCount']),
    cacheWrite: null,
    output: isCounted ? (candidates ?? 0) + (thoughts ?? 0) : rest,
    reasoning: thoughts,
  });
  const isUsualTier = isStandard(figures['serviceTier'] ?? figures['trafficType']);
  if (!isSpecial(figures)) return isUsualTier ? { ...usage, billing: USUAL } : usage;
  const prompts = modalities(figures['promptTokensDetails'], figures['toolUsePromptTokensDetails']);
  const cached = modalities(figures['cacheTokensDetails']);
  const answered = modalities(figures['candidatesTokensDetails']);
  const plain = (modality: string) =>
    Math.max(0, (prompts.get(modality) ?? 0) - (cached.get(modality) ?? 0));
  return withBilling(
    usage,
    toBilling({
      tier: termOf(figures['serviceTier']) ?? termOf(figures['trafficType']),
      isUsualTier: isUsualTier || undefined,
      inputAudioTokens: plain('AUDIO'),
      inputImageTokens: plain('IMAGE'),
      inputVideoTokens: plain('VIDEO'),
      cacheReadAudioTokens: cached.get('AUDIO'),
      cacheReadImageTokens: cached.get('IMAGE'),
      outputAudioTokens: answered.get('AUDIO'),
      outputImageTokens: answered.get('IMAGE'),
    }),
  );
}

const DETAILS = [
  'promptTokensDetails',
  'toolUsePromptTokensDetails',
  'candidatesTokensDetails',
  'cacheTokensDetails',
];

/**
 * Returns true if there is anything but text at the usual terms: every chunk of a stream has
 * figures.
 */
function isSpecial(figures: JsonObject): boolean {
  if (termOf(figures['serviceTier'] ?? figures['trafficType']) !== undefined) return true;
  for (const name of DETAILS) {
    const list = figures[name];
    if (!Array.isArray(list)) continue;
    for (const part of list as readonly unknown[])
      if (isObject(part) && part['modality'] !== 'TEXT') return true;
  }
  return false;
}

export const generativeReader: AnswerReader = Object.freeze({
  // Text may contain them too: such an event is parsed in vain, since only the paths count.
  needles: [Buffer.from('TokenCo'), Buffer.from('finishR')],
  paths: [
    ['usageMetadata'],
    ['modelVersion'],
    ['candidates', 0, 'finishReason'],
    ['promptFeedback', 'blockReason'],
    ['candidates', 0, 'groundingMetadata', 'webSearchQueries'],
    ['candidates', 0, 'groundingMetadata', 'groundingChunks'],
  ],
  read(answer: Answer, [usage, model, reason, blocked, queries, chunks]: readonly unknown[]): void {
    const searched = Math.max(listOf(queries).length, answer.usage.billing?.webSearches ?? 0);
    const unknown = answer.usage.billing?.unknownUses;
    // Some chunks have only a traffic type here; figures are totals, so the last ones count.
    if (
      isObject(usage) &&
      typeof (usage['promptTokenCount'] ?? usage['totalTokenCount']) === 'number'
    ) {
      answer.usage = toGenerativeUsage(usage);
    }
    const isMapped = objectsOf(chunks).some(({ maps }) => maps !== undefined);
    if (isMapped || unknown !== undefined)
      answer.usage = withBilling(answer.usage, { unknownUses: unknown ?? ['maps'] });
    if (searched > 0) answer.usage = withBilling(answer.usage, { webSearches: searched });
    if (typeof model === 'string' && model !== '') answer.model = model;
    if (typeof reason === 'string' || typeof blocked === 'string') answer.terminated = true;
  },
  ending: /"(?:finishReason|blockReason)"\s*:\s*"[^"]/,
  failure: /^event: ?error|^data: ?\{\s*"error"\s*:\s*\{/m,
});
