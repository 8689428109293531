/**
 * Usage in answers to requests that passed unread, such as embeddings and legacy
 * completions: the figures are recognised by their names, whoever sent them.
 */
import type { Usage } from '../../model/usage.ts';
import { toChatUsage } from '../chat/usage.ts';
import { toGenerativeUsage } from '../generative/usage.ts';
import { withTier } from '../billing.ts';
import { isObject } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { mergeMessagesUsage } from '../messages/usage.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { toResponsesUsage } from '../responses/usage.ts';

function toUsage(figures: JsonObject, known: Usage): Usage {
  if ('prompt_tokens' in figures) return toChatUsage(figures);
  if ('promptTokenCount' in figures) return toGenerativeUsage(figures);
  if ('input_tokens_details' in figures || 'total_tokens' in figures) {
    return toResponsesUsage(figures);
  }
  return mergeMessagesUsage(known, figures);
}

/** How many of the paths below lead to figures. */
const FIGURES = 5;
/** How many more lead to names of models; the last two lead to the service tier. */
const MODELS = 4;

export const opaqueReader: AnswerReader = Object.freeze({
  needles: [Buffer.from('_tokens'), Buffer.from('TokenCo')],
  paths: [
    ['usage'],
    ['usageMetadata'],
    ['response', 'usage'],
    ['message', 'usage'],
    ['x_groq', 'usage'],
    ['model'],
    ['modelVersion'],
    ['response', 'model'],
    ['message', 'model'],
    ['service_tier'],
    ['response', 'service_tier'],
  ],
  read(answer: Answer, values: readonly unknown[]): void {
    const tier = answer.usage.billing?.tier;
    const figures = values.slice(0, FIGURES).find(isObject);
    if (figures !== undefined) answer.usage = toUsage(figures, answer.usage);
    const named = values.slice(FIGURES + MODELS).find((value) => typeof value === 'string');
    answer.usage = withTier(answer.usage, named, tier);
    const models = values.slice(FIGURES, FIGURES + MODELS);
    const model = models.find((value) => typeof value === 'string');
    if (typeof model === 'string' && model !== '') answer.model = model;
  },
  // Nobody knows how such a stream should end, so the connection's own end has to do.
  ending: /^/,
  failure: /^event: ?(?:error|response\.failed)|^data: ?\{\s*"error"\s*:\s*[{"]/m,
});
