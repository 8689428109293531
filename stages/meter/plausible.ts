/**
 * Figures that are impossible for the request and the model. A provider that mistakenly reports a
 * million tokens for a line of text would use up a day's limit; such a figure is noted, and our
 * estimate is charged instead.
 */
import { requestedOutput, maxOutputTokens } from '../budget/max-output.ts';
import { isObject } from '../dialect/json-kind.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import type { Billing } from '../model/billing.ts';
import { factsOf } from '../model/model-facts.ts';
import type { ProxyRequest } from '../model/request.ts';
import { totalInputTokens } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';

/**
 * What a provider adds to the input: instructions for tools and formats, markup around messages.
 */
const ADDED_TOKENS = 32_768;
/**
 * How far output may exceed its limit, since providers do not enforce limits to the exact token.
 */
const OVERRUN_TOKENS = 1024;
const OVERRUN = 1.25;
/** Few documents are longer; one with an invalid figure counts as this much. */
const LIKELY_TOKENS = 4096;
/** No model of 2026 has a larger window. */
const LARGEST_WINDOW = 2_000_000;
/**
 * How often a provider that runs its own tools may have the model read everything again in one
 * answer.
 */
const MAX_ROUNDS = 20;
/** Members through which a model reads content outside the request. */
const ELSEWHERE =
  /"(?:previous_response_id|conversation|prompt|container|mcp_servers|cachedContent|cached_content|file_id|file_uri|fileUri|fileData|file_data|image_url|file_url|url)"/;

/** The bounds for the figures of one answer. */
export interface Bounds {
  readonly model: string | undefined;
  /** The context window in tokens; null if unknown. */
  readonly contextWindow: number | null;
  /**
   * Estimates the output tokens seen in the stream; 0 for a document. Parses every sampled event,
   * so it is called for an implausible figure only.
   */
  streamedTokens(): number;
}

/**
 * Returns `usage` with an estimate instead of figures that `request` cannot have caused; the same
 * object if there are none.
 */
export function plausible(usage: Usage, request: ProxyRequest, bounds: () => Bounds): Usage {
  const input = totalInputTokens(usage) ?? 0;
  const output = usage.outputTokens ?? 0;
  const { billing } = usage;
  if (billing !== undefined && !isPlausible(billing)) {
    const { inferences: _other, webSearches: _web, fileSearches: _file, ...rest } = billing;
    const corrected = { ...usage, billing: rest, estimated: true, corrected: true as const };
    return plausible(corrected, request, bounds);
  }
  // For most requests their size alone decides, without looking up the model.
  if (input <= sizeBound(request) && output <= OVERRUN_TOKENS) return usage;
  const { model, contextWindow, ...seen } = bounds();
  // Price lists lag behind models, so the windows they list do not bound a single read.
  const maxInput = isSelfContained(request)
    ? Math.max(sizeBound(request), LARGEST_WINDOW)
    : Math.max(contextWindow ?? 0, LARGEST_WINDOW) * MAX_ROUNDS;
  const limit = requestedOutput(request.original.json);
  // Not every server respects its limit.
  const expectedOutput = maxOutputTokens(limit, model);
  const maxOutput = withOverrun(Math.max(expectedOutput, factsOf(model).maxOutputTokens));
  // Not every provider counts its model's reasoning against the limit.
  const reasoning = Math.min(
    usage.reasoningTokens ?? 0,
    withOverrun(factsOf(model).maxOutputTokens),
  );
  const isInputOff = input > maxInput;
  const isOutputOff = output > maxOutput + reasoning;
  if (!isInputOff && !isOutputOff) return usage;
  const streamedTokens = isOutputOff ? seen.streamedTokens() : 0;
  return Object.freeze({
    ...usage,
    ...(billing?.inferences && { billing: { ...billing, inferences: [] } }),
    ...(isInputOff && {
      inputTokens: estimateInputTokens(request),
      cacheReadTokens: null,
      cacheWriteTokens: null,
      cacheWrite1hTokens: null,
    }),
    ...(isOutputOff && {
      outputTokens: Math.round(
        streamedTokens > 0 ? streamedTokens : Math.min(withOverrun(expectedOutput), LIKELY_TOKENS),
      ),
      reasoningTokens: null,
    }),
    estimated: true,
    corrected: true as const,
  });
}

/** No answer of 2026 has more searches. */
const MAX_SEARCHES = 10_000;

/** Returns false for implausible numbers of additional inferences and searches. */
function isPlausible({ inferences = [], webSearches = 0, fileSearches = 0 }: Billing): boolean {
  if (webSearches > MAX_SEARCHES || fileSearches > MAX_SEARCHES) return false;
  return inferences.every(
    ({ model, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }) =>
      inputTokens + cacheReadTokens + cacheWriteTokens <= LARGEST_WINDOW &&
      outputTokens <= withOverrun(factsOf(model).maxOutputTokens),
  );
}

function withOverrun(tokens: number): number {
  return Math.ceil(tokens * OVERRUN) + OVERRUN_TOKENS;
}

/** No text has more tokens than bytes. */
function sizeBound({ original, report }: ProxyRequest): number {
  return original.body.bytes.length + (report.injectedTokens ?? 0) + ADDED_TOKENS;
}

/** Returns true if everything that the model reads is in the request itself, and is read once. */
function isSelfContained({ original }: ProxyRequest): boolean {
  const { json, body, endpoint } = original;
  if (!endpoint.rewritable || !isObject(json)) return false;
  const tools = json['tools'];
  const isHosted = (tool: unknown): boolean => {
    if (!isObject(tool)) return true;
    const { type } = tool;
    const isDeclared = 'functionDeclarations' in tool || 'function_declarations' in tool;
    return type === undefined
      ? !isDeclared && !('input_schema' in tool)
      : type !== 'custom' && type !== 'function';
  };
  if (tools !== undefined && tools !== null && (!Array.isArray(tools) || tools.some(isHosted)))
    return false;
  return !ELSEWHERE.test(body.bytes.toString('latin1'));
}
