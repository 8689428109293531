/** What is read of an answer as it passes: its usage, its model, and how it ended. */
import type { RunInfo, Settlement } from '../../engine/index.ts';
import { attemptToShow } from '../model/attempt.ts';
import type { DeferredBills } from '../budget/deferred-bills.ts';
import { isBilledByUse, mayCost } from '../budget/unparsed-estimate.ts';
import { observeResults, resultsAt } from '../dialect/opaque/results.ts';
import type { BodyFrame } from '../model/body.ts';
import type { UsageObserver } from '../model/dialect.ts';
import type { LedgerRow } from '../ledger/row.ts';
import { withServedTerms } from '../dialect/billing.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import { emptyUsage, withPartial } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import type { RequestSize } from '../learned/request-size.ts';
import type { Services } from '../services.ts';
import { createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import { plausible } from './plausible.ts';

export interface Measured {
  observer: UsageObserver | undefined;
  /** True if another reader feeds the answer to the observer. */
  isFed: boolean;
  decoder: Decoder | undefined;
  firstByteMs: number | undefined;
}

export function createMeasured(): Measured {
  return { observer: undefined, isFed: false, decoder: undefined, firstByteMs: undefined };
}

export function observe(state: Measured, bytes: Buffer): void {
  if (state.isFed) return;
  if (state.decoder === undefined) state.observer?.push(bytes);
  else state.decoder.push(bytes);
}

export function start(state: Measured, head: HeadFrame): void {
  state.isFed = head.observer !== undefined;
  const observer = head.observer ?? observerFor(head);
  state.observer = observer;
  const encoding = headerValue(head.headers, 'content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    state.decoder = createDecoder(encoding, (bytes) => observer.push(bytes));
  }
}

function observerFor({ request, status, streaming }: HeadFrame): UsageObserver {
  const { dialect, body } = request.original;
  const results = body.method === 'GET' && status === 200 ? resultsAt(body.target) : undefined;
  return results === undefined ? dialect.observeUsage(streaming) : observeResults(results);
}

export function isError(head: HeadFrame): boolean {
  return head.status >= 400 || head.failed === true;
}

/** Combines the engine's outcome with the status and the stream's own end. */
export function outcomeOf(
  settlement: Settlement<ProxyFrame>,
  state: Measured,
): LedgerRow['outcome'] {
  const head = settlement.last.head;
  if (settlement.outcome !== 'ok' || head === undefined) return settlement.outcome;
  if (isError(head)) return 'error';
  if (!head.streaming || state.observer === undefined) return 'ok';
  return state.observer.failed() || !state.observer.terminated() ? 'partial' : 'ok';
}

/**
 * Returns the usage that the provider reported, which a translated answer's bytes may not contain.
 */
export function reportedUsage(head: HeadFrame | undefined, { observer }: Measured): Usage {
  return head?.usage?.() ?? observer?.usage() ?? emptyUsage;
}

/** The header in which Google reports the tier [ai.google.dev, priority-inference, 2026-11]. */
const TIER_HEADER = 'x-gemini-service-tier';

/**
 * Returns the same; estimated for a stream that was cut off, or that is complete and reports none.
 */
export function usageOf(
  { last }: Settlement<ProxyFrame>,
  usage: Usage,
  { observer }: Measured,
  { learned }: Services,
  sizeOf: RequestSize,
): Usage {
  const { head } = last;
  if (head === undefined || observer === undefined) return usage;
  const { body, json } = head.request.original;
  // Deferred work is paid once it has ended, and no part of it before.
  if (usage.work?.isDeferred === true) return withServedTerms(usage, pathTerms(body, head));
  const isUnreported = isSilent(head, usage) && !observer.failed();
  if (isUnreported && !head.streaming) return SILENT;
  const isWhole = observer.terminated();
  const served = withServedTerms(usage, {
    ...pathTerms(body, head),
    requestBody: isWhole && usage.inputTokens !== null ? undefined : json,
  });
  if (isWhole && !isUnreported) return served;
  const ratio = learned.tokenRatio(observer.model() ?? modelOf(head.request) ?? null);
  return withPartial(served, observer.streamedTokens() * ratio, () => {
    const size = sizeOf(head.request);
    return size === undefined ? estimateInputTokens(head.request) : size * ratio;
  });
}

/** For a billed request without reported usage: no row may look as if it had cost nothing. */
const SILENT: Usage = Object.freeze({
  ...emptyUsage,
  estimated: true,
  billing: Object.freeze({ unknownUses: ['unreported usage'] }),
});

function isSilent({ request, status, attempts }: HeadFrame, usage: Usage): boolean {
  if (status >= 300 || attempts.length === 0 || usage.work !== undefined) return false;
  if (usage.inputTokens !== null || usage.outputTokens !== null) return false;
  return isBilledByUse(request.original.body);
}

function pathTerms({ target }: BodyFrame, { headers }: HeadFrame) {
  return { path: target, header: headerValue(headers, TIER_HEADER), requestBody: undefined };
}

/** Returns the model as the provider names it, or else the one that was requested. */
export function modelIn(
  { last: { head, body, request: frame } }: Settlement<ProxyFrame>,
  { observer }: Measured,
  { withoutKeys }: Services,
): string | null {
  const request = head?.request ?? frame?.request;
  const shown = head === undefined ? attemptToShow(request?.route?.attempts) : undefined;
  const requestedModel = shown?.model ?? (request && modelOf(request));
  const model = head?.model ?? observer?.model() ?? requestedModel ?? null;
  return model === null || model === requestedModel ? model : withoutKeys(model, body);
}

/**
 * Returns true for an answer whose figures must be paid: one generated for its request, and for
 * deferred work the first complete one. Later fetches of either cost nothing.
 */
function isBill(
  { last: { head }, outcome }: Settlement<ProxyFrame>,
  { work }: Usage,
  deferredBills: DeferredBills,
): boolean {
  if (head === undefined) return false;
  if (mayCost(head.request.original.body)) return work?.isDeferred !== true || work.isFinal;
  return outcome === 'ok' && !isError(head) && work !== undefined && deferredBills.isDue(work);
}

function unbilled({ work }: Usage): Usage {
  return work === undefined ? emptyUsage : { ...emptyUsage, work };
}

/** Returns the usage that the provider reported, as far as it is plausible. */
export function plausibleUsage(
  settlement: Settlement<ProxyFrame>,
  state: Measured,
  run: RunInfo,
  { providers, prices, deferredBills }: Services,
): Usage {
  const { head } = settlement.last;
  const reported = reportedUsage(head, state);
  // Our own answers have no provider figures, and cached ones were checked before.
  if (head === undefined || head.attempts.length === 0) return reported;
  if (!isBill(settlement, reported, deferredBills)) return unbilled(reported);
  // The usage of a whole batch has no bound.
  if (!mayCost(head.request.original.body)) return reported;
  return plausible(reported, head.request, () => {
    const provider = providers.get(head.request.route?.provider ?? '');
    const model = head.model ?? state.observer?.model() ?? modelOf(head.request);
    const contextWindow =
      provider === undefined || model === undefined
        ? null
        : prices.contextWindow(provider, model, run.startedWallMs);
    return { model, contextWindow, streamedTokens: () => state.observer?.streamedTokens() ?? 0 };
  });
}
