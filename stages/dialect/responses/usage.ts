/** Usage in responses answers, which count cached tokens inside the input. */
import type { Usage } from '../../model/usage.ts';
import { modalBilling, withBilling, withTier } from '../billing.ts';
import { countOf, isObject, objectOf, objectsOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import type { Answer, AnswerReader } from '../answer-reader.ts';
import { WORK_PATHS, withWork } from '../own-work.ts';
import { splitInput } from '../split-input.ts';
import { DIAGNOSTICS_NEEDLES, withNamedMiss } from '../named-miss.ts';
import { TRANSFORMATIONS_NEEDLE, withTransformations } from '../transformations.ts';

/** Normalises one `usage` object. */
export function toResponsesUsage(figures: JsonObject): Usage {
  const input = objectOf(figures['input_tokens_details']);
  const output = objectOf(figures['output_tokens_details']);
  const usage = splitInput(figures, {
    input: countOf(figures['input_tokens']),
    cacheRead: countOf(input['cached_tokens']),
    cacheWrite: countOf(input['cache_write_tokens']),
    output: countOf(figures['output_tokens']),
    reasoning: countOf(output['reasoning_tokens']),
  });
  return withBilling(usage, modalBilling(input, output));
}

/** Ends the type of an item that is a search of the web or of files; text has its quotes escaped. */
const SEARCH_CALL = Buffer.from('search_call"');

const SEARCHES = { web_search_call: 'webSearches', file_search_call: 'fileSearches' } as const;

/** Counts the searches in a response, or in the item that an event has completed; `payload` may come twice. */
function readSearches(answer: Answer, payload: unknown): void {
  const { type, item, output, response } = objectOf(payload);
  const list = output ?? objectOf(response)['output'];
  const isDone = type === 'response.output_item.done';
  if (!isDone && !Array.isArray(list)) return;
  const items = isDone ? objectsOf([item]) : objectsOf(list);
  const found = items.filter(isBilledSearch);
  // The whole response names every item again.
  const calls = isDone ? new Map(answer.searches) : new Map<string, string>();
  for (const [at, { id, type: kind }] of found.entries()) {
    calls.set(typeof id === 'string' ? id : `${calls.size} ${at}`, String(kind));
  }
  answer.searches = calls;
  answer.usage = withSearches(answer.usage, calls);
}

/** Opening a page that was found, and looking for a word in it, are no searches [developers.openai.com, tools-web-search, from memory, 2026-11]. */
function isBilledSearch({ type, action }: JsonObject): boolean {
  const kind = objectOf(action)['type'];
  return typeof type === 'string' && type in SEARCHES && (kind === undefined || kind === 'search');
}

function withSearches(usage: Usage, calls: ReadonlyMap<string, string> | undefined): Usage {
  if (calls === undefined || calls.size === 0) return usage;
  const counts = { webSearches: 0, fileSearches: 0 };
  for (const type of calls.values()) counts[SEARCHES[type as keyof typeof SEARCHES]] += 1;
  return withBilling(usage, counts);
}

/** A response that is not waited for names itself, so that it is not billed again when it is fetched. */
const BACKGROUND = [Buffer.from('"background":true'), Buffer.from('"background": true')];

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);

export const responsesReader: AnswerReader = Object.freeze({
  // Every event has a sequence number and a type; only the whole response has a usage member.
  // A search is announced by name, which is all that a stream says of it that is cut off.
  needles: [Buffer.from('usage":'), Buffer.from('ch_call')],
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
  details: [TRANSFORMATIONS_NEEDLE, SEARCH_CALL, ...DIAGNOSTICS_NEEDLES, ...BACKGROUND],
  ends: { first: 'model', last: 'usage', near: 'service_tier' },
  hosted: { needle: SEARCH_CALL, read: readSearches },
  read(answer: Answer, values: readonly unknown[]): void {
    const [usage, model, innerUsage, innerModel, type, transformed, innerTransformed, ...rest] =
      values;
    const [diagnostics, innerDiagnostics, tier, innerTier, ...work] = rest;
    const figures = usage ?? innerUsage;
    const { billing } = answer.usage;
    if (isObject(figures)) answer.usage = toResponsesUsage(figures);
    answer.usage = withTier(answer.usage, tier ?? innerTier, billing?.tier);
    answer.usage = withSearches(answer.usage, answer.searches);
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
