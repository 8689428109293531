/** Usage in responses answers, which count cached tokens inside the input. */
import type { Usage } from '../../model/usage.ts';
import { countOf, isObject, objectOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { splitInput } from '../split-input.ts';
import { DIAGNOSTICS_NEEDLES, withNamedMiss } from '../named-miss.ts';
import { TRANSFORMATIONS_NEEDLE, withTransformations } from '../transformations.ts';

/** Normalises one `usage` object. */
export function toResponsesUsage(figures: JsonObject): Usage {
  const input = objectOf(figures['input_tokens_details']);
  const output = objectOf(figures['output_tokens_details']);
  return splitInput(figures, {
    input: countOf(figures['input_tokens']),
    cacheRead: countOf(input['cached_tokens']),
    cacheWrite: countOf(input['cache_write_tokens']),
    output: countOf(figures['output_tokens']),
    reasoning: countOf(output['reasoning_tokens']),
  });
}

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export const responsesReader: AnswerReader = Object.freeze({
  // Every event has a sequence number and a type; only the whole response has a usage member.
  needles: [Buffer.from('usage":')],
  paths: [
    ['usage'],
    ['model'],
    ['response', 'usage'],
    ['response', 'model'],
    ['type'],
    ['input_transformations'],
    ['response', 'input_transformations'],
    ['prompt_cache_diagnostics'],
    ['response', 'prompt_cache_diagnostics'],
  ],
  details: [TRANSFORMATIONS_NEEDLE, ...DIAGNOSTICS_NEEDLES],
  ends: { first: 'model', last: 'usage' },
  read(answer: Answer, values: readonly unknown[]): void {
    const [usage, model, innerUsage, innerModel, type, transformed, innerTransformed, ...rest] =
      values;
    const [diagnostics, innerDiagnostics] = rest;
    const figures = usage ?? innerUsage;
    if (isObject(figures)) answer.usage = toResponsesUsage(figures);
    answer.usage = withTransformations(answer.usage, transformed ?? innerTransformed);
    answer.usage = withNamedMiss(answer.usage, diagnostics ?? innerDiagnostics);
    const named = model ?? innerModel;
    if (typeof named === 'string' && named !== '') answer.model = named;
    if (typeof type !== 'string') return;
    if (TERMINAL.has(type)) answer.terminated = true;
    if (type === 'response.failed') answer.failed = true;
  },
  ending:
    /^event: ?response\.(?:completed|incomplete|failed|cancelled)|"type"\s*:\s*"response\.(?:completed|incomplete|failed|cancelled)"|^data: ?\[DONE\]/m,
  failure:
    /^event: ?(?:error|response\.failed)|^data: ?\{\s*"type"\s*:\s*"(?:error|response\.failed)"/m,
});
