/** Usage in responses answers, which count cached tokens inside the input. */
import type { Usage } from '../../model/usage.ts';
import { modalBilling, toBilling, unknownCounters, withBilling, withTier } from '../billing.ts';
import { countOf, isObject, objectOf, objectsOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { WORK_PATHS, withWork } from '../provider-work.ts';
import { splitInput } from '../split-input.ts';
import { DIAGNOSTICS_NEEDLES, withNamedMiss } from '../reported-miss.ts';
import { TRANSFORMATIONS_NEEDLE, withTransformations } from '../transformations.ts';

/** Normalises one `usage` object. */
export function toResponsesUsage(figures: JsonObject): Usage {
  // Transcriptions have another name for it.
  const input = objectOf(figures['input_tokens_details'] ?? figures['input_token_details']);
  const output = objectOf(figures['output_tokens_details']);
  const usage = splitInput(figures, {
    input: countOf(figures['input_tokens']),
    cacheRead: countOf(input['cached_tokens']),
    cacheWrite: countOf(input['cache_write_tokens']),
    output: countOf(figures['output_tokens']),
    reasoning: countOf(output['reasoning_tokens']),
  });
  return withBilling(withBilling(usage, modalBilling(input, output)), unknownCounters(figures));
}

/**
 * Suffixes of the types of items that are billed besides tokens; in text the quotes are escaped.
 */
const HOSTED_CALLS = ['search_call"', 'generation_call"', 'interpreter_call"', 'shell_call"'].map(
  (end) => Buffer.from(end),
);

const SEARCHES = { web_search_call: 'webSearches', file_search_call: 'fileSearches' } as const;
/**
 * Calls of the client's tools, and those that cost only their tokens [developers.openai.com,
 * pricing, 2026-11].
 */
const FREE_CALLS = new Set([
  'function_call',
  'custom_tool_call',
  'mcp_call',
  'computer_call',
  'local_shell_call',
  'apply_patch_call',
  'tool_search_call',
]);

/**
 * Counts the billed calls in a response, or in the item that an event has completed; `payload` may
 * come twice.
 */
function readCalls(answer: Answer, payload: unknown): void {
  const { type, item, output, response } = objectOf(payload);
  const list = output ?? objectOf(response)['output'];
  const isDone = type === 'response.output_item.done';
  if (!isDone && !Array.isArray(list)) return;
  const items = isDone ? objectsOf([item]) : objectsOf(list);
  const billedCalls = items.filter(isBilledCall);
  // The whole response lists every item again; at the beginning of a stream it has none yet.
  const calls = isDone ? new Map(answer.searches) : new Map<string, string>();
  for (const [at, { id, type: kind }] of billedCalls.entries()) {
    calls.set(typeof id === 'string' ? id : `${calls.size} ${at}`, String(kind));
  }
  answer.searches = calls;
  answer.usage = withCalls(answer.usage, calls);
}

/**
 * Opening a found page, and searching a word in it, are not searches [developers.openai.com,
 * tools-web-search, from memory, 2026-11].
 */
function isBilledCall({ type, action, environment }: JsonObject): boolean {
  if (typeof type !== 'string' || !type.endsWith('_call') || FREE_CALLS.has(type)) return false;
  const kind = objectOf(action)['type'];
  if (type in SEARCHES) return kind === undefined || kind === 'search';
  // A shell is the client's own, or one in a container of the provider.
  return type !== 'shell_call' || String(objectOf(environment)['type']).startsWith('container');
}

function withCalls(usage: Usage, calls: ReadonlyMap<string, string> | undefined): Usage {
  if (calls === undefined || calls.size === 0) return usage;
  const counts = { webSearches: 0, fileSearches: 0 };
  const unknown = new Set(usage.billing?.unknownUses);
  for (const type of calls.values()) {
    if (type in SEARCHES) counts[SEARCHES[type as keyof typeof SEARCHES]] += 1;
    else unknown.add(type);
  }
  return withBilling(usage, toBilling({ ...counts, unknownUses: [...unknown] }));
}

/** A background response carries its id, so that it is not billed again when it is fetched. */
const BACKGROUND = [Buffer.from('"background":true'), Buffer.from('"background": true')];

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export const responsesReader: AnswerReader = Object.freeze({
  // Every event has a sequence number and a type; only the whole response has a usage member. For a
  // search, an image or code that is run, its item is all that a truncated stream reports of it.
  needles: ['usage":', 'ch_call', 'ration_', 'preter_', 'l_call"'].map((one) => Buffer.from(one)),
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
    ['service_tier'],
    ['response', 'service_tier'],
    ...WORK_PATHS,
  ],
  details: [TRANSFORMATIONS_NEEDLE, ...HOSTED_CALLS, ...DIAGNOSTICS_NEEDLES, ...BACKGROUND],
  ends: { first: 'model', last: 'usage', near: 'service_tier' },
  hosted: { needles: HOSTED_CALLS, read: readCalls },
  read(answer: Answer, values: readonly unknown[]): void {
    const [usage, model, innerUsage, innerModel, type, transformed, innerTransformed, ...rest] =
      values;
    const [diagnostics, innerDiagnostics, tier, innerTier, ...work] = rest;
    const figures = usage ?? innerUsage;
    const { billing } = answer.usage;
    if (isObject(figures)) answer.usage = toResponsesUsage(figures);
    answer.usage = withTier(answer.usage, tier ?? innerTier, billing?.tier);
    answer.usage = withCalls(answer.usage, answer.searches);
    answer.usage = withTransformations(answer.usage, transformed ?? innerTransformed);
    answer.usage = withNamedMiss(answer.usage, diagnostics ?? innerDiagnostics);
    const { work: own } = withWork(answer.usage, work);
    // Nearly every response was waited for, and its figures are its own.
    if (own !== undefined && (own.isDeferred === true || !own.isFinal))
      answer.usage = { ...answer.usage, work: own };
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
