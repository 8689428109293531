/**
 * Explains why a request cost, missed, failed, fell back or saved nothing, for `svc why` and
 * `/why`.
 */
import type { RequestJson } from '../../stages/ledger/request-json.ts';
import { dollars, share } from '../words/amounts.ts';
import { counted } from '../words/counted.ts';
import { missInWords } from '../words/miss-words.ts';

/** A trace in the form of `/trace`, or a part of one. */
type TraceRecord = Readonly<Record<string, unknown>>;

/** The failure of an attempt that sent nothing. */
const NOT_SENT = /^(?:not asked|skipped): /;

/**
 * Returns the explanations in words; `trace` exists only while the proxy that served the request
 * remembers it.
 */
export function whyJson(request: RequestJson, trace: TraceRecord | undefined) {
  return {
    request_id: request.request_id,
    outcome: outcomeOf(request, trace),
    providers: attemptsOf(request, trace),
    cost: costOf(request, trace),
    // Null if the provider's prompt cache was not missed.
    cache: request.cache_miss === undefined ? null : missInWords(request.cache_miss),
    savings: savingsOf(request, trace),
  };
}

/** Describes the outcome. */
function outcomeOf(request: RequestJson, trace: TraceRecord | undefined): string {
  const { outcome, status_code: status, latency_ms: ms } = request;
  const took = ms === null ? '' : `, ${count(Math.round(ms))} ms`;
  if (outcome === 'ok') return `answered (${status ?? '–'})${took}`;
  if (outcome === 'cancelled') return `the client left${took}`;
  const known = request.error_code ?? request.error_kind;
  const error = typeof trace?.['error'] === 'string' ? trace['error'] : known;
  const what = outcome === 'partial' ? 'broke off' : `failed (${status ?? 'no answer'})`;
  return `${what}${took}${error === null ? '' : `: ${error}`}`;
}

/** Lists the attempted providers in order, each with the result. */
function attemptsOf(request: RequestJson, trace: TraceRecord | undefined): string[] {
  const attempts = Array.isArray(trace?.['attempts']) ? (trace['attempts'] as TraceRecord[]) : [];
  if (attempts.length > 0) {
    const tried = attempts.map((attempt, index) => {
      const isLast = index === attempts.length - 1;
      return `${String(attempt['provider'])}: ${resultOf(attempt, isLast && request.outcome === 'cancelled')}`;
    });
    const later = routedProviders(trace, 'asked_later').map(
      ([name, why]) => `${name}: asked later: ${why}`,
    );
    const unused = request.failed ? routedProviders(trace, 'left_out') : [];
    return [
      ...later,
      ...tried,
      ...unused.map(([name, why]) => `${name}: no fallback here: ${why}`),
    ];
  }
  if (request.response_cache_hit) return ['the response cache: no provider was asked'];
  if (hasNoAttempt(request, trace)) return ['no provider was asked'];
  const before =
    request.attempts > 1
      ? `, after ${counted(request.attempts - 1, 'other attempt', 'other attempts')}`
      : '';
  return [`${request.provider}${before}`];
}

/** Providers that the route stage noted at `field`, each with the reason. */
function routedProviders(
  trace: TraceRecord | undefined,
  field: 'asked_later' | 'left_out',
): readonly (readonly [name: string, why: string])[] {
  return stagesOf(trace).flatMap(({ [field]: noted }) =>
    Array.isArray(noted)
      ? (noted as string[]).map((text) => {
          const [name = '', ...why] = text.split(': ');
          return [name, why.join(': ')] as const;
        })
      : [],
  );
}

function stagesOf(trace: TraceRecord | undefined): readonly TraceRecord[] {
  return Array.isArray(trace?.['stages']) ? (trace['stages'] as TraceRecord[]) : [];
}

/** Describes the result of one attempt. */
function resultOf({ status, failure, words }: TraceRecord, isCancelled: boolean): string {
  // The error that the proxy then threw would look like a fault of the provider.
  if (isCancelled && typeof status !== 'number') return 'had not answered when the client left';
  const what =
    typeof failure === 'string' ? failure : `status ${typeof status === 'number' ? status : '–'}`;
  return typeof words === 'string' ? `${what}: ${words}` : what;
}

/** True if it ended before any attempt, although its provider was already chosen. */
function hasNoAttempt(request: RequestJson, trace: TraceRecord | undefined): boolean {
  const { provider, attempts, outcome } = request;
  const isKnown = trace !== undefined || attempts === 0;
  return provider === null || (outcome !== 'ok' && isKnown);
}

/** Describes the cost and what it was for. */
function costOf(request: RequestJson, trace: TraceRecord | undefined): string {
  const {
    cost,
    sent_input_tokens: sent,
    output_tokens: output,
    provider_cache_read_tokens: read,
    provider_cache_creation_tokens: written,
  } = request;
  const parts = [
    sent === null ? [] : [`${count(sent)} input tokens`],
    read === null || read === 0 ? [] : [`${count(read)} of them from the prompt cache`],
    written === null || written === 0 ? [] : [`${count(written)} written to it`],
    output === null ? [] : [`${count(output)} output tokens`],
  ].flat();
  const free = parts.length === 0 && cost === null ? whyFree(request, trace) : undefined;
  if (free !== undefined) return `nothing: ${free}`;
  const unpriced = Array.isArray(trace?.['unpriced']) ? (trace['unpriced'] as string[]) : [];
  const unknown = unpriced.length > 0 ? `no price for ${unpriced.join(', ')}` : 'not known';
  const amount = cost === null ? unknown : dollars(cost);
  return parts.length === 0 ? amount : `${amount}: ${parts.join(', ')}`;
}

/** Returns why a request without tokens and cost is not billed; undefined if it may be. */
function whyFree(request: RequestJson, trace: TraceRecord | undefined): string | undefined {
  const attempts = Array.isArray(trace?.['attempts']) ? (trace['attempts'] as TraceRecord[]) : [];
  if (attempts.length === 0 && hasNoAttempt(request, trace)) return 'no provider was asked';
  const isRefused = ({ status }: TraceRecord): boolean =>
    typeof status === 'number' && status >= 400;
  // One that broke off without a status may have been billed.
  const sent = attempts.filter(({ failure }) => !NOT_SENT.test(String(failure)));
  if (request.failed && sent.length > 0 && sent.every(isRefused)) return 'an error bills nothing';
  if (request.response_cache_hit) return 'the answer was kept';
  // An estimate of zero tokens means that the response reported no usage.
  const { outcome, failed, usage_estimated: isSilent } = request;
  return outcome === 'ok' && !failed && !isSilent ? 'its answer bills nothing' : undefined;
}

/** Describes what compression did, or why it did nothing. */
function savingsOf(request: RequestJson, trace: TraceRecord | undefined): string {
  const { tokens_saved: saved, input_tokens: input, cost_saved: worth } = request;
  if (saved !== null && saved > 0) {
    const part = input === null || input === 0 ? '' : ` (${share(saved / input)})`;
    return `${count(saved)} input tokens${part}, worth ${dollars(worth)}`;
  }
  if (request.response_cache_hit) return 'all of it: the answer was kept';
  const because = stagesOf(trace).flatMap(({ not_compressed_because: why }) =>
    typeof why === 'string' ? [why] : [],
  );
  return because.length === 0 ? 'nothing' : `nothing: ${because.join('; ')}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
