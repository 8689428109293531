/** The row of a run: tokens, money and savings. */
import type { RunInfo, Settlement } from '../../engine/index.ts';
import { isRefusedForThoughts, attemptToShow } from '../model/attempt.ts';
import { ledgerRow } from '../ledger/row.ts';
import type { LedgerRow } from '../ledger/row.ts';
import type { TraceSavings } from '../ledger/run-record.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import { clientSession } from '../model/conversation.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { ProxyRequest } from '../model/request.ts';
import { namedProject } from '../model/project.ts';
import { pathOf } from '../model/target.ts';
import { totalInputTokens } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import type { RequestSize } from '../learned/request-size.ts';
import type { ToolSets } from '../learned/tool-sets.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';
import { clientSkill } from './client.ts';
import { toolFigures } from './tools.ts';
import type { Unanswered } from './unanswered-usage.ts';
import type { ClientFamily } from './client.ts';
import { outcomeOf, usageOf, modelIn } from './answer.ts';
import type { Measured } from './answer.ts';

/** What rows are made with, besides the run itself. */
export interface Metering {
  readonly services: Services;
  readonly sizeOf: RequestSize;
  readonly toolSets: ToolSets;
  readonly familyOf: ClientFamily;
}

/** Explains why a provider's cache was missed, once. */
export type Explain = (usage: Usage, provider: Provider, model: string) => CacheMiss | undefined;

export function toRow(
  settlement: Settlement<ProxyFrame>,
  reported: Usage,
  state: Measured,
  run: RunInfo,
  { services, sizeOf, toolSets, familyOf }: Metering,
  unanswered?: Unanswered,
  explain?: Explain,
): LedgerRow {
  const { last, error } = settlement;
  const { body, head } = last;
  const request = head?.request ?? last.request?.request;
  const attempts = (head ?? request?.route)?.attempts ?? [];
  const usage = usageOf(settlement, reported, state, services, sizeOf);
  const model = modelIn(settlement, state, services);
  const shown = head === undefined ? attemptToShow(request?.route?.attempts) : undefined;
  const provider = services.providers.get(shown?.provider ?? request?.route?.provider ?? '');
  const measured = usage.inputTokens !== null || usage.outputTokens !== null;
  const at = run.startedWallMs;
  const { prices } = services;
  const priced = measured && provider !== undefined && model !== null;
  const miss = priced ? explain?.(usage, provider, model) : undefined;
  /** Returns what this many more input tokens would have cost. */
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
  const forgottenTokens = partOf(saved, request?.report.estimatedForgotten, ratio);
  const tools = partOf(saved, request?.report.estimatedTools, ratio, forgottenTokens ?? 0);
  const alreadyCounted = (forgottenTokens ?? 0) + (tools ?? 0);
  const leftOut = partOf(saved, request?.report.estimatedLeftOut, ratio, alreadyCounted);
  const cacheHit = request?.report.cacheHit ?? false;
  const breakpoints = request?.report.breakpoints ?? null;
  // An answer has figures of its own; without any, the input given to the provider counts.
  const unansweredUsage = head === undefined ? unanswered : undefined;
  const costMissed =
    priced && miss !== undefined
      ? prices.missedNanoUsd(provider, model, usage, miss.missedTokens, at)
      : null;
  const byBreakpoints =
    priced && breakpoints !== null ? prices.cachingNanoUsd(provider, model, usage, at) : null;
  const used =
    head === undefined || request === undefined || input === null || cacheHit
      ? undefined
      : toolFigures(request, input, ratio, toolSets, (tokens) =>
          priced ? prices.leadingNanoUsd(provider, model, usage, tokens, at) : null,
        );
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
      input === null ? (unansweredUsage?.inputTokens ?? null) : input + (saved ?? 0) - (added ?? 0),
    inputTokensSent: cacheHit ? 0 : (input ?? unansweredUsage?.inputTokens ?? null),
    savedTokens: saved,
    outputTokens: usage.outputTokens ?? unansweredUsage?.outputTokens ?? null,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    usageEstimated: usage.estimated || unansweredUsage !== undefined,
    costNanoUsd: cacheHit ? 0 : (cost ?? unansweredUsage?.costNanoUsd ?? null),
    costSavedNanoUsd: cacheHit ? cost : sumOfKnown(costSaved, byBreakpoints),
    breakpoints,
    costSavedByBreakpointsNanoUsd: byBreakpoints,
    forgottenTokens: cacheHit ? null : forgottenTokens,
    costSavedByForgettingNanoUsd: cacheHit ? null : worth(forgottenTokens),
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
    keyLabel: body?.caller?.label ?? null,
    project: request?.original.project() ?? (body === undefined ? null : namedProject(body)),
    ...used,
    reasoningTokens: cacheHit ? null : usage.reasoningTokens,
    webSearches: cacheHit ? null : (usage.billing?.webSearches ?? null),
  });
}

/** Returns the sum of the known values; null if none is known. */
function sumOfKnown(left: number | null, right: number | null): number | null {
  return left === null && right === null ? null : (left ?? 0) + (right ?? 0);
}

/**
 * Returns the input tokens removed by compression: estimated, then converted to the model's own
 * tokens by the learned ratio. 0 if a rewritable request was sent unchanged; null if it is not
 * rewritable, or the answer was not measured.
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

/**
 * Returns the part of `saved` that `estimated` stands for, at most what remains after
 * `alreadyCounted`; null for none.
 */
function partOf(
  saved: number | null,
  estimated: number | undefined,
  ratio: number,
  alreadyCounted = 0,
): number | null {
  if (estimated === undefined || saved === null) return null;
  return Math.max(0, Math.min(Math.round(estimated * ratio), saved - alreadyCounted));
}

function mayBeRewritten({ original, isVerbatim }: ProxyRequest): boolean {
  return original.body.untouchable === undefined && !isVerbatim && original.endpoint.rewritable;
}

/**
 * Returns the input tokens of injected text, converted in the same way, and never more than the
 * input. Null for none, or if the answer was not measured.
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

/** Returns how many thinking blocks a provider reports as dropped; null if it reports none. */
export function droppedIn(dropped: Usage['droppedThoughts']): number | null {
  return dropped === undefined ? null : Object.values(dropped).reduce((sum, each) => sum + each, 0);
}

/**
 * Returns the row's part about savings; undefined if none was measured. A copy: rows are not kept
 * for as long as traces.
 */
export function savingsOf(row: LedgerRow): TraceSavings | undefined {
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
