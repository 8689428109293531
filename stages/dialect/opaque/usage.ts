/**
 * Usage in answers to requests that are forwarded without being parsed, such as embeddings and
 * legacy completions: the figures are recognised by their names, from any provider.
 */
import type { JsonPath } from '../../model/block.ts';
import type { Usage } from '../../model/usage.ts';
import { toChatUsage } from '../chat/usage.ts';
import { isInteractionUsage, toInteractionUsage } from '../generative/interaction-usage.ts';
import { toGenerativeUsage } from '../generative/usage.ts';
import { withTier } from '../billing.ts';
import { isObject, objectOf, objectsOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { mergeMessagesUsage } from '../messages/usage.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { toResponsesUsage } from '../responses/usage.ts';
import { WORK_PATHS, generativeWork, withWork } from '../provider-work.ts';
import { createUsageSum } from '../usage-sum.ts';

function toUsage(figures: JsonObject, known: Usage): Usage {
  if ('prompt_tokens' in figures) return toChatUsage(figures);
  if ('promptTokenCount' in figures) return toGenerativeUsage(figures);
  if (isInteractionUsage(figures)) return toInteractionUsage(figures);
  if ('input_tokens_details' in figures || 'total_tokens' in figures) {
    return toResponsesUsage(figures);
  }
  return mergeMessagesUsage(known, figures);
}

const USAGE_PATHS: readonly JsonPath[] = [
  ['usage'],
  ['usageMetadata'],
  ['response', 'usage'],
  ['message', 'usage'],
  ['x_groq', 'usage'],
  ['interaction', 'usage'],
];
const MODEL_PATHS: readonly JsonPath[] = [
  ['model'],
  ['modelVersion'],
  ['response', 'model'],
  ['message', 'model'],
  ['interaction', 'model'],
];
const TIER_PATHS: readonly JsonPath[] = [['service_tier'], ['response', 'service_tier']];
const MODELS_END = USAGE_PATHS.length + MODEL_PATHS.length;
const TIERS_END = MODELS_END + TIER_PATHS.length;

/** Where a generative batch has its results if they are not in a file. */
const INLINED = Buffer.from('"inlinedResponses"');

/** Sums up the results of a generative batch that are in its own answer. */
function readInlined(answer: Answer, payload: unknown): void {
  const batch = generativeWork(payload);
  if (batch === undefined) return;
  const results = objectsOf(objectOf(batch.output['inlinedResponses'])['inlinedResponses']);
  const sum = createUsageSum('batch');
  for (const { response } of results) {
    const { usageMetadata, modelVersion } = objectOf(response);
    const model = typeof modelVersion === 'string' ? modelVersion : undefined;
    if (isObject(usageMetadata)) sum.add(model, toGenerativeUsage(usageMetadata));
    else if (response !== undefined) sum.addUnread('a result without usage');
  }
  answer.usage = { ...sum.usage(), work: batch.work };
  answer.model = sum.model() ?? answer.model;
}

export const opaqueReader: AnswerReader = Object.freeze({
  needles: [Buffer.from('_tokens'), Buffer.from('TokenCo')],
  paths: [...USAGE_PATHS, ...MODEL_PATHS, ...TIER_PATHS, ...WORK_PATHS],
  hosted: { needles: [INLINED], read: readInlined },
  read(answer: Answer, values: readonly unknown[]): void {
    const tier = answer.usage.billing?.tier;
    const figures = values.slice(0, USAGE_PATHS.length).find(isObject);
    if (figures !== undefined) answer.usage = toUsage(figures, answer.usage);
    const named = values.slice(MODELS_END, TIERS_END).find((value) => typeof value === 'string');
    answer.usage = withTier(answer.usage, named, tier);
    const models = values.slice(USAGE_PATHS.length, MODELS_END);
    const model = models.find((value) => typeof value === 'string');
    if (typeof model === 'string' && model !== '') answer.model = model;
    answer.usage = withWork(answer.usage, values.slice(TIERS_END));
  },
  // How such a stream should end is unknown, so any end of the connection counts.
  ending: /^/,
  failure: /^event: ?(?:error|response\.failed)|^data: ?\{\s*"error"\s*:\s*[{"]/m,
});
