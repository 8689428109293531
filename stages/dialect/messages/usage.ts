/** Usage in messages answers. Cached tokens are counted outside `input_tokens`. */
import type { Billing, Inference } from '../../model/billing.ts';
import type { Usage } from '../../model/usage.ts';
import {
  USUAL,
  isStandard,
  latestTerm,
  toBilling,
  unknownCounters,
  withBilling,
} from '../billing.ts';
import { correctedIn, countOf, isObject, objectOf, objectsOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { DIAGNOSTICS_NEEDLES, withNamedMiss } from '../reported-miss.ts';
import { TRANSFORMATIONS_NEEDLE, withTransformations } from '../transformations.ts';

/**
 * Adds `figures` to what is known. A stream reports twice: `message_start` with the input,
 * `message_delta` with running totals, which take precedence if present.
 */
export function mergeMessagesUsage(known: Usage, figures: JsonObject): Usage {
  const split = objectOf(figures['cache_creation']);
  const details = objectOf(figures['output_tokens_details']);
  const billing = billingOf(figures, known.billing);
  const written5m = countOf(split['ephemeral_5m_input_tokens']);
  const written1h = countOf(split['ephemeral_1h_input_tokens']);
  const writtenBySplit =
    written5m === null && written1h === null ? null : (written5m ?? 0) + (written1h ?? 0);
  const input = countOf(figures['input_tokens']);
  const read = countOf(figures['cache_read_input_tokens']);
  const write = countOf(figures['cache_creation_input_tokens']) ?? writtenBySplit;
  // Some servers end with zeros for what they counted at the beginning: an input of zero is
  // impossible.
  const isNone = ![input, read, write].some((count) => count !== null && count > 0);
  const merged = (count: number | null, before: number | null): number | null =>
    isNone ? (before ?? count) : (count ?? before);
  return {
    inputTokens: merged(input, known.inputTokens),
    outputTokens: countOf(figures['output_tokens']) ?? known.outputTokens,
    cacheReadTokens: merged(read, known.cacheReadTokens),
    cacheWriteTokens: merged(write, known.cacheWriteTokens),
    cacheWrite1hTokens: written1h ?? known.cacheWrite1hTokens,
    reasoningTokens: countOf(details['thinking_tokens']) ?? known.reasoningTokens,
    estimated: false,
    ...(billing && { billing }),
    ...(known.corrected && { corrected: true }),
    ...(known.cacheMiss && { cacheMiss: known.cacheMiss }),
    ...(known.droppedThoughts && { droppedThoughts: known.droppedThoughts }),
    ...correctedIn(figures),
  };
}

/** Returns the billing in the figures, over what was known; a stream's last report is complete. */
function billingOf(figures: JsonObject, known: Billing | undefined): Billing | undefined {
  // Reported only if the request set it. `standard` is kept too: a speed that was not granted costs
  // nothing extra.
  const speed =
    figures['speed'] === 'standard' ? 'standard' : latestTerm(figures['speed'], known?.speed);
  const tier = latestTerm(figures['service_tier'], known?.tier);
  const geo = latestTerm(figures['inference_geo'], known?.geo);
  const searched = countOf(objectOf(figures['server_tool_use'])['web_search_requests']);
  const webSearches = searched ?? known?.webSearches ?? 0;
  const unknown = unknownCounters(figures)?.unknownUses ?? known?.unknownUses;
  const { iterations } = figures;
  const isUsual = speed === undefined && tier === undefined && geo === undefined;
  const isPlain = known === undefined || known === USUAL;
  const isOwn = webSearches === 0 && unknown === undefined && !Array.isArray(iterations);
  if (isUsual && isPlain && isOwn) {
    return typeof figures['service_tier'] === 'string' ? USUAL : known;
  }
  const inferences = Array.isArray(iterations)
    ? billedAttempts(objectsOf(iterations)).map(toInference)
    : known?.inferences;
  const isUsualTier =
    tier === undefined && (known?.isUsualTier ?? isStandard(figures['service_tier']));
  return toBilling({
    speed,
    tier,
    geo,
    webSearches,
    unknownUses: unknown,
    inferences,
    isUsualTier: isUsualTier || undefined,
  });
}

/**
 * Entries of these types are also in the totals of the answer; a compaction and an advisor are not.
 */
const IN_TOTAL = new Set<unknown>(['message', 'fallback_message']);

/**
 * Returns the attempts without those refused before any output, after which another model took
 * over: they are listed with their input, and not billed [platform.claude.com, release notes and
 * fallback billing, 2026-06-09].
 */
function billedAttempts(entries: readonly JsonObject[]): readonly JsonObject[] {
  const last = entries.findLastIndex(({ type }) => type === 'fallback_message');
  return entries.filter(
    ({ type, output_tokens: output }, at) => at >= last || !IN_TOTAL.has(type) || output !== 0,
  );
}

function toInference(entry: JsonObject): Inference {
  const split = objectOf(entry['cache_creation']);
  const written1h = countOf(split['ephemeral_1h_input_tokens']) ?? 0;
  const written5m = countOf(split['ephemeral_5m_input_tokens']) ?? 0;
  const { model, type } = entry;
  return {
    model: typeof model === 'string' && model !== '' ? model : undefined,
    isInTotal: IN_TOTAL.has(type),
    inputTokens: countOf(entry['input_tokens']) ?? 0,
    outputTokens: countOf(entry['output_tokens']) ?? 0,
    cacheReadTokens: countOf(entry['cache_read_input_tokens']) ?? 0,
    cacheWriteTokens: countOf(entry['cache_creation_input_tokens']) ?? written5m + written1h,
    cacheWrite1hTokens: written1h,
  };
}

const REFUSED = Buffer.from('"refusal"');
/**
 * A refusal before any output is not billed [platform.claude.com, release notes, 2026-06-02]; some
 * platforms count one token of it [docs.aws.amazon.com, fallback credit].
 */
const NO_OUTPUT = 1;

export const messagesReader: AnswerReader = Object.freeze({
  needles: [Buffer.from('_tokens')],
  paths: [
    ['usage'],
    ['model'],
    ['message', 'usage'],
    ['message', 'model'],
    ['input_transformations'],
    ['message', 'input_transformations'],
    ['diagnostics'],
    ['message', 'diagnostics'],
    ['stop_reason'],
    ['delta', 'stop_reason'],
  ],
  ends: { first: 'model', last: 'usage' },
  details: [TRANSFORMATIONS_NEEDLE, REFUSED, ...DIAGNOSTICS_NEEDLES],
  read(answer: Answer, values: readonly unknown[]): void {
    const [usage, model, startUsage, startModel, transformed, startTransformed, ...rest] = values;
    const [diagnostics, startDiagnostics, reason, lastReason] = rest;
    if (isObject(startUsage)) answer.usage = mergeMessagesUsage(answer.usage, startUsage);
    if (isObject(usage)) answer.usage = mergeMessagesUsage(answer.usage, usage);
    answer.usage = withTransformations(answer.usage, transformed ?? startTransformed);
    answer.usage = withNamedMiss(answer.usage, diagnostics ?? startDiagnostics);
    if ((reason ?? lastReason) === 'refusal' && (answer.usage.outputTokens ?? 0) <= NO_OUTPUT)
      answer.usage = withBilling(answer.usage, { isUnbilled: true });
    const modelName = model ?? startModel;
    if (typeof modelName === 'string' && modelName !== '') answer.model = modelName;
  },
  ending: /^event: ?message_stop|"type"\s*:\s*"message_stop"/m,
  // What follows the reason only repeats that the message is complete.
  complete: /"stop_reason"\s*:\s*"[^"]/,
  failure: /^event: ?error|^data: ?\{\s*"type"\s*:\s*"error"/m,
});
