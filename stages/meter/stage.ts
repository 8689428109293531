/**
 * Measures every run and writes exactly one row for it: usage as the provider
 * reports it, read from a copy of the answer's bytes, and what that costs.
 */
import { defineStage } from '../../engine/index.ts';
import type { RunInfo, Settlement } from '../../engine/index.ts';
import { isRefusedForThoughts, shownIn } from '../model/attempt.ts';
import type { UsageObserver } from '../model/dialect.ts';
import { ledgerRow } from '../ledger/row.ts';
import type { LedgerRow } from '../ledger/row.ts';
import type { TraceSavings } from '../ledger/kept-run.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import { withServedTerms } from '../dialect/billing.ts';
import { clientSession } from '../model/conversation.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { pathOf } from '../model/target.ts';
import { emptyUsage, totalInputTokens, withPartial } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { createRequestSize } from '../learned/request-size.ts';
import type { RequestSize } from '../learned/request-size.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';
import { createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import { clientSkill, createClientFamily } from './client.ts';
import { explainMiss } from './cache-miss.ts';
import { plausible } from './plausible.ts';
import { unansweredUse } from './unanswered.ts';
import type { Unanswered } from './unanswered.ts';
import type { ClientFamily } from './client.ts';

interface Measured {
  observer: UsageObserver | undefined;
  /** True if the observer is given the answer by someone else. */
  isFed: boolean;
  decoder: Decoder | undefined;
  firstByteMs: number | undefined;
}

function unmeasured(): Measured {
  return { observer: undefined, isFed: false, decoder: undefined, firstByteMs: undefined };
}

function observe(state: Measured, bytes: Buffer): void {
  if (state.isFed) return;
  if (state.decoder === undefined) state.observer?.push(bytes);
  else state.decoder.push(bytes);
}

function start(state: Measured, head: HeadFrame): void {
  state.isFed = head.observer !== undefined;
  const observer = head.observer ?? head.request.original.dialect.observeUsage(head.streaming);
  state.observer = observer;
  const encoding = headerValue(head.headers, 'content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    state.decoder = createDecoder(encoding, (bytes) => observer.push(bytes));
  }
}

function isError(head: HeadFrame): boolean {
  return head.status >= 400 || head.failed === true;
}

/** What the status and the stream's own words make of the engine's verdict. */
function outcomeOf(settlement: Settlement<ProxyFrame>, state: Measured): LedgerRow['outcome'] {
  const head = settlement.last.head;
  if (settlement.outcome !== 'ok' || head === undefined) return settlement.outcome;
  if (isError(head)) return 'error';
  if (!head.streaming || state.observer === undefined) return 'ok';
  return state.observer.failed() || !state.observer.terminated() ? 'partial' : 'ok';
}

/** The usage that the provider reported, which the client's bytes need not hold where it was translated. */
function reportedUsage(head: HeadFrame | undefined, { observer }: Measured): Usage {
  return head?.usage?.() ?? observer?.usage() ?? emptyUsage;
}

/** Where Google names the tier [ai.google.dev, priority-inference, 2026-11]. */
const TIER_HEADER = 'x-gemini-service-tier';

/** The same; of a stream that was cut off, or whose usage the client did not ask for, it is estimated. */
function usageOf(
  { last }: Settlement<ProxyFrame>,
  usage: Usage,
  { observer }: Measured,
  { learned }: Services,
  sizeOf: RequestSize,
): Usage {
  const { head } = last;
  if (head === undefined || observer === undefined) return usage;
  const { body, json } = head.request.original;
  const isWhole = observer.terminated();
  const served = withServedTerms(usage, {
    path: body.target,
    header: headerValue(head.headers, TIER_HEADER),
    asked: isWhole && usage.inputTokens !== null ? undefined : json,
  });
  if (isWhole && !isForbidden(head, usage)) return served;
  const ratio = learned.tokenRatio(observer.model() ?? modelOf(head.request) ?? null);
  return withPartial(served, observer.streamedTokens() * ratio, () => {
    const size = sizeOf(head.request);
    return size === undefined ? estimateInputTokens(head.request) : size * ratio;
  });
}

/** True of a whole chat stream without usage whose client did not want it. */
function isForbidden({ request, status, streaming }: HeadFrame, usage: Usage): boolean {
  const isUnreported = usage.inputTokens === null && usage.outputTokens === null;
  return (
    isUnreported && streaming && status < 400 && request.original.facts.usageWish === 'declined'
  );
}

/** The model as the provider names it, or else the one that was asked. */
function modelIn(
  { last: { head, body, request: frame } }: Settlement<ProxyFrame>,
  { observer }: Measured,
  { withoutKeys }: Services,
): string | null {
  const request = head?.request ?? frame?.request;
  const shown = head === undefined ? shownIn(request?.route?.attempts) : undefined;
  const asked = shown?.model ?? (request && modelOf(request));
  const model = head?.model ?? observer?.model() ?? asked ?? null;
  return model === null || model === asked ? model : withoutKeys(model, body);
}

/** What rows are made with, beside the run itself. */
interface Metering {
  readonly services: Services;
  readonly sizeOf: RequestSize;
  readonly familyOf: ClientFamily;
}

function toRow(
  settlement: Settlement<ProxyFrame>,
  reported: Usage,
  state: Measured,
  run: RunInfo,
  { services, sizeOf, familyOf }: Metering,
  unanswered?: Unanswered,
  explain?: Explain,
): LedgerRow {
  const { last, error } = settlement;
  const { body, head } = last;
  const request = head?.request ?? last.request?.request;
  const attempts = (head ?? request?.route)?.attempts ?? [];
  const usage = usageOf(settlement, reported, state, services, sizeOf);
  const model = modelIn(settlement, state, services);
  const shown = head === undefined ? shownIn(request?.route?.attempts) : undefined;
  const provider = services.providers.get(shown?.provider ?? request?.route?.provider ?? '');
  const measured = usage.inputTokens !== null || usage.outputTokens !== null;
  const at = run.startedWallMs;
  const { prices } = services;
  const priced = measured && provider !== undefined && model !== null;
  const miss = priced ? explain?.(usage, provider, model) : undefined;
  /** What so many tokens more of input would have cost. */
  const worth = (tokens: number | null): number | null =>
    priced && tokens !== null ? prices.savedNanoUsd(provider, model, usage, tokens, at) : null;
  const input = totalInputTokens(usage);
  const ratio = services.learned.tokenRatio(model);
  const saved = savedTokens(request, input, ratio);
  const cost = priced ? prices.costNanoUsd(provider, model, usage, at) : null;
  const costSaved = worth(saved);
  const added = addedTokens(request, input, ratio);
  const costAdded =
    priced && added !== null ? prices.addedNanoUsd(provider, model, usage, added, at) : null;
  const forgotten = partOf(saved, request?.report.estimatedForgotten, ratio);
  const tools = partOf(saved, request?.report.estimatedTools, ratio, forgotten ?? 0);
  const taken = (forgotten ?? 0) + (tools ?? 0);
  const leftOut = partOf(saved, request?.report.estimatedLeftOut, ratio, taken);
  const cacheHit = request?.report.cacheHit ?? false;
  const breakpoints = request?.report.breakpoints ?? null;
  // What was answered has figures of its own; for nothing at all there is what the provider was given.
  const wasted = head === undefined ? unanswered : undefined;
  const costMissed =
    priced && miss !== undefined
      ? prices.missedNanoUsd(provider, model, usage, miss.missedTokens, at)
      : null;
  const byBreakpoints =
    priced && breakpoints !== null ? prices.cachingNanoUsd(provider, model, usage, at) : null;
  return ledgerRow({
    id: run.id,
    startedMs: at,
    endpoint: body === undefined ? '' : pathOf(body.target),
    outcome: outcomeOf(settlement, state),
    provider: provider?.name ?? null,
    dialect: request?.original.dialect.name ?? null,
    modelRequested: request?.original.facts.model ?? null,
    model,
    stream: head?.streaming ?? request?.original.facts.stream ?? false,
    status: head?.status ?? (error === undefined ? null : services.statusOf(error.kind)),
    errorKind: error?.kind ?? null,
    errorCode: error?.code ?? null,
    inputTokensRaw:
      input === null ? (wasted?.inputTokens ?? null) : input + (saved ?? 0) - (added ?? 0),
    inputTokensSent: cacheHit ? 0 : (input ?? wasted?.inputTokens ?? null),
    savedTokens: saved,
    outputTokens: usage.outputTokens ?? wasted?.outputTokens ?? null,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    usageEstimated: usage.estimated || wasted !== undefined,
    costNanoUsd: cacheHit ? 0 : (cost ?? wasted?.costNanoUsd ?? null),
    costSavedNanoUsd: cacheHit ? cost : together(costSaved, byBreakpoints),
    breakpoints,
    costSavedByBreakpointsNanoUsd: byBreakpoints,
    forgottenTokens: cacheHit ? null : forgotten,
    costSavedByForgettingNanoUsd: cacheHit ? null : worth(forgotten),
    longResultTokens: cacheHit ? null : leftOut,
    costSavedByLongResultsNanoUsd: cacheHit ? null : worth(leftOut),
    toolTokens: cacheHit ? null : tools,
    costSavedByToolsNanoUsd: cacheHit ? null : worth(tools),
    mode: request?.report.mode ?? null,
    cacheHit,
    chunksInjected: request?.report.injected?.length ?? null,
    tokensInjected: request?.report.injectedTokens ?? null,
    addedTokens: cacheHit && added !== null ? 0 : added,
    costAddedNanoUsd: cacheHit && costAdded !== null ? 0 : costAdded,
    topChunks: request?.report.injected ?? null,
    cacheMiss: miss?.cause ?? null,
    cacheMissDetail: miss?.detail ?? null,
    cacheMissedTokens: miss?.missedTokens ?? null,
    costCacheMissedNanoUsd: costMissed,
    thoughtsRefused: attempts.some(isRefusedForThoughts) ? 1 : null,
    thoughtsDropped: droppedIn(reported.droppedThoughts),
    latencyMs: settlement.durationMs,
    ttfbMs: state.firstByteMs ?? null,
    attempts: attempts.length,
    client: body === undefined ? null : familyOf(body.headers),
    sessionId: body === undefined ? null : (clientSession(body.headers) ?? null),
    skill: body === undefined ? null : clientSkill(body.headers),
    node: services.node,
  });
}

/** The sum of what is known; null where nothing is. */
function together(left: number | null, right: number | null): number | null {
  return left === null && right === null ? null : (left ?? 0) + (right ?? 0);
}

/**
 * Input tokens that compression took away: estimated, then in the model's own tokens by the
 * ratio learned so far. 0 where a request that may be rewritten went out unchanged; null where it
 * may not, or the answer was not measured.
 */
function savedTokens(
  request: ProxyRequest | undefined,
  input: number | null,
  ratio: number,
): number | null {
  const { estimatedBefore, estimatedAfter, estimatedTools } = request?.report ?? {};
  if (request === undefined || input === null) return null;
  const isMeasured = estimatedBefore !== undefined && estimatedAfter !== undefined;
  if (!isMeasured && estimatedTools === undefined) return mayBeRewritten(request) ? 0 : null;
  const ofBlocks = isMeasured ? Math.max(estimatedBefore - estimatedAfter, 0) : 0;
  return Math.round((ofBlocks + (estimatedTools ?? 0)) * ratio);
}

/** The part of `saved`, less `taken` by another, that was estimated, likewise; null where nothing was. */
function partOf(
  saved: number | null,
  estimated: number | undefined,
  ratio: number,
  taken = 0,
): number | null {
  if (estimated === undefined || saved === null) return null;
  return Math.max(0, Math.min(Math.round(estimated * ratio), saved - taken));
}

function mayBeRewritten({ original, isVerbatim }: ProxyRequest): boolean {
  return original.body.untouchable === undefined && !isVerbatim && original.endpoint.rewritable;
}

/**
 * Input tokens of what was injected, likewise, and never more than there was input. Null
 * where nothing was, or the answer was not measured.
 */
function addedTokens(
  request: ProxyRequest | undefined,
  input: number | null,
  ratio: number,
): number | null {
  const { injectedTokens: estimated } = request?.report ?? {};
  if (estimated === undefined || input === null) return null;
  return Math.min(Math.round(estimated * ratio), input);
}

/** What the row says of a saving; undefined where none was measured. A copy: rows are not kept for as long as traces. */
function savingsOf(row: LedgerRow): TraceSavings | undefined {
  const { savedTokens: saved, addedTokens: added, costSavedNanoUsd, costAddedNanoUsd } = row;
  const { breakpoints, costSavedByBreakpointsNanoUsd, cacheReadTokens, cacheWriteTokens } = row;
  if (saved === null && added === null && breakpoints === null) return undefined;
  return {
    savedTokens: saved,
    addedTokens: added,
    costSavedNanoUsd,
    costAddedNanoUsd,
    breakpoints,
    costSavedByBreakpointsNanoUsd,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/**
 * Ends what the request holds of its limits: with the cost in its row, or without one where
 * nothing was answered. What nothing was held for counts all the same, so that a start finds
 * in the ledger what was counted here.
 */
function settleSpending(
  { last }: Settlement<ProxyFrame>,
  row: LedgerRow,
  guard: Services['spending'],
  unanswered: Unanswered | undefined,
  knownNanoUsd = 0,
): void {
  const { head } = last;
  const report = (head?.request ?? last.request?.request)?.report;
  if (report === undefined || report.cacheHit === true) return;
  // Another provider has answered: what the first one was given counts besides.
  if (head !== undefined && unanswered !== undefined)
    guard.count(unanswered.costNanoUsd ?? 0, unanswered.inputTokens + unanswered.outputTokens);
  const { costNanoUsd, inputTokensSent, outputTokens } = row;
  const spending = report.spending;
  const tokens = (inputTokensSent ?? 0) + (outputTokens ?? 0);
  if (spending === undefined) guard.count(costNanoUsd ?? knownNanoUsd, tokens);
  else if (inputTokensSent !== null || outputTokens !== null)
    spending.settle(costNanoUsd, tokens, knownNanoUsd);
  else if (head === undefined || isError(head)) spending.release();
  else spending.settleUnmeasured();
}

/** Sets the provider's count of a request beside our estimate of it. */
function learn(
  { last }: Settlement<ProxyFrame>,
  usage: Usage,
  state: Measured,
  { learned, withoutKeys }: Services,
  sizeOf: RequestSize,
): void {
  const named = state.observer?.model();
  const model =
    named === undefined ? last.head && modelOf(last.head.request) : withoutKeys(named, last.body);
  const input = totalInputTokens(usage);
  if (last.head === undefined || model === undefined || input === null || usage.estimated) return;
  // An answer of our own was counted by nobody.
  if (last.head.attempts.length === 0) return;
  const { request } = last.head;
  learned.learnTokens(model, input, () => sizeOf(request));
}

/** Says why a provider's cache was missed, once. */
type Explain = (usage: Usage, provider: Provider, model: string) => CacheMiss | undefined;

/** What was found out of a run at its end. */
interface Measurement {
  readonly row: LedgerRow;
  readonly usageCorrected?: true | undefined;
  readonly unanswered?: Unanswered | undefined;
  readonly dropped?: Usage['droppedThoughts'];
  readonly miss?: CacheMiss | undefined;
  /** What of it has no price, and the price of the rest; undefined where all of it has one. */
  readonly lacking?: Lacking | undefined;
}

type Lacking = ReturnType<Services['prices']['lacking']>;

/** What keeps a row without a cost. */
function lackingIn(
  settlement: Settlement<ProxyFrame>,
  row: LedgerRow,
  reported: Usage,
  state: Measured,
  { services, sizeOf }: Metering,
): Lacking | undefined {
  const { costNanoUsd, inputTokensSent, provider: name, model, startedMs, cacheHit } = row;
  if (costNanoUsd !== null || inputTokensSent === null || cacheHit) return undefined;
  const provider = services.providers.get(name ?? '');
  if (provider === undefined || model === null) return undefined;
  const usage = usageOf(settlement, reported, state, services, sizeOf);
  return services.prices.lacking(provider, model, usage, startedMs);
}

/** How many thoughts a provider says it has dropped; null where it says of none. */
function droppedIn(dropped: Usage['droppedThoughts']): number | null {
  return dropped === undefined ? null : Object.values(dropped).reduce((sum, each) => sum + each, 0);
}

/** `2 thoughts dropped: prefix, model`; undefined for none. */
function wordsOf(dropped: Usage['droppedThoughts']): string | undefined {
  const count = droppedIn(dropped);
  if (dropped === undefined || count === null) return undefined;
  return `${count} ${count === 1 ? 'thought' : 'thoughts'} dropped: ${Object.keys(dropped).join(', ')}`;
}

/** The row, after what the answer teaches, and whether the provider's figures had to be corrected. */
function measuredRow(
  settlement: Settlement<ProxyFrame>,
  state: Measured,
  run: RunInfo,
  metering: Metering,
): Measurement {
  if (settlement.outcome === 'ok') state.observer?.ended?.();
  const { services, sizeOf } = metering;
  const reported = plausibleUsage(settlement, state, run, services);
  learn(settlement, reported, state, services, sizeOf);
  const unanswered = unansweredUse(settlement, run.startedWallMs, services, sizeOf);
  let miss: CacheMiss | undefined;
  const explain: Explain = (usage, provider, model) => {
    try {
      miss = explainMiss(settlement, run, usage, { provider, model }, services);
    } catch (cause) {
      // Whatever a request is made of, its figures do not depend on it.
      services.log.error('it could not be told why a prompt cache was missed', {
        request: run.id,
        cause,
      });
    }
    return miss;
  };
  const row = toRow(settlement, reported, state, run, metering, unanswered, explain);
  const { corrected: usageCorrected, droppedThoughts: dropped } = reported;
  const lacking = lackingIn(settlement, row, reported, state, metering);
  return { row, usageCorrected, unanswered, dropped, miss, lacking };
}

/** What the provider reported, as far as it can be true. */
function plausibleUsage(
  { last: { head } }: Settlement<ProxyFrame>,
  state: Measured,
  run: RunInfo,
  { providers, prices }: Services,
): Usage {
  const reported = reportedUsage(head, state);
  // An answer of our own was counted by nobody, and one that was kept was looked at before.
  if (head === undefined || head.attempts.length === 0) return reported;
  return plausible(reported, head.request, () => {
    const provider = providers.get(head.request.route?.provider ?? '');
    const model = head.model ?? state.observer?.model() ?? modelOf(head.request);
    const contextWindow =
      provider === undefined || model === undefined
        ? null
        : prices.contextWindow(provider, model, run.startedWallMs);
    return { model, contextWindow, streamedTokens: state.observer?.streamedTokens() ?? 0 };
  });
}

/** Texts remembered; clients can invent names of models. */
const MOST_WARNED = 200;

/** Says once of each thing that it has no price: the trace of every request says it too. */
function createUnpricedWarner({ log }: Services) {
  const warned = new Set<string>();
  return (missing: readonly string[]): void => {
    for (const what of missing) {
      if (warned.has(what) || warned.size >= MOST_WARNED) continue;
      warned.add(what);
      log.warning('requests are without a cost: something has no price', { what });
    }
  };
}

/** Watches the answer; writes its row when the run has settled. */
export const meter = defineStage<ProxyFrame, undefined, Services>({
  name: 'meter',
  build(_config, services) {
    const sizeOf = createRequestSize();
    const warn = createUnpricedWarner(services);
    const metering: Metering = { services, sizeOf, familyOf: createClientFamily() };
    return {
      open: unmeasured,
      watch: {
        head(head, ctx) {
          start(ctx.state, head);
        },
        chunk(chunk, ctx) {
          const state: Measured = ctx.state;
          state.firstByteMs ??= services.clock.monotonicMs() - ctx.run.startedMs;
          observe(state, chunk.metered ?? chunk.bytes);
        },
      },
      settled(settlement, ctx) {
        const state: Measured = ctx.state ?? unmeasured();
        const record = () => {
          let measured: Measurement;
          let fault: { readonly thrown: unknown } | undefined;
          try {
            measured = measuredRow(settlement, state, ctx.run, metering);
          } catch (thrown) {
            // Whatever an answer makes of its figures, the request has its row.
            measured = { row: toRow(settlement, emptyUsage, unmeasured(), ctx.run, metering) };
            fault = { thrown };
          }
          const { row, usageCorrected, unanswered, dropped, miss, lacking } = measured;
          const unpriced = lacking?.missing;
          if (unpriced !== undefined) warn(unpriced);
          const droppedThoughts = wordsOf(dropped);
          if (dropped !== undefined) {
            services.conversations.noteDropped(dropped);
            services.log.warning('a provider has not shown thoughts to the model', {
              request: ctx.run.id,
              what: droppedThoughts,
            });
          }
          settleSpending(settlement, row, services.spending, unanswered, lacking?.knownNanoUsd);
          // The trace was added with what the engine alone knows.
          const savings = savingsOf(row);
          const { outcome } = row;
          const isNews = outcome !== settlement.outcome || savings !== undefined;
          const others = droppedThoughts ?? miss ?? unpriced;
          if (isNews || usageCorrected || others !== undefined) {
            const cacheMiss = miss && { ...miss, costNanoUsd: row.costCacheMissedNanoUsd };
            const shown = { outcome, savings, usageCorrected, droppedThoughts, cacheMiss };
            services.traces.correct(ctx.run.id, { ...shown, unpriced });
          }
          services.ledger.record(row);
          if (fault !== undefined) throw fault.thrown;
        };
        // A copy that is still being decoded has its usage at its very end.
        const later = () => services.afterwards.later(record);
        return state.decoder === undefined ? later() : state.decoder.end().then(later);
      },
    };
  },
});
