/**
 * What the ledger's sums mean: one definition for the live window, which adds
 * rows up as they come, and for the file, which is asked later. A test holds
 * the two against each other.
 */
import type { LedgerRow } from './row.ts';
import { isFailure } from './row.ts';

/** Sums over requests. Rows in which a figure is `null` do not take part in that figure. */
export interface Totals {
  readonly requests: number;
  /** Requests that failed, as `isFailure` defines it. */
  readonly errors: number;
  /** Requests whose client disconnected. */
  readonly cancelled: number;
  /** Requests answered by our own response cache. */
  readonly cacheHits: number;
  /** Requests that asked for a stream. */
  readonly streamed: number;
  /** Input tokens as the clients sent them, without what was injected. */
  readonly inputTokens: number;
  /** Input tokens as they went upstream. */
  readonly sentInputTokens: number;
  readonly savedTokens: number;
  /** Input tokens that were injected from the vault. */
  readonly addedTokens: number;
  readonly outputTokens: number;
  /** Tokens that providers read from their own prompt caches. */
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Requests that carried cache markers of ours. */
  readonly marked: number;
  /** The part of `cacheReadTokens` that marked requests read. */
  readonly markedReadTokens: number;
  /** The part of `cacheWriteTokens` that they wrote. */
  readonly markedWriteTokens: number;
  /** Whole nano-dollars; of `priced` requests only, see `knownCost`. */
  readonly costNanoUsd: number;
  /** The same, of all lanes together; see `knownCostSaved`. */
  readonly costSavedNanoUsd: number;
  /** The part of it that cache markers brought. */
  readonly costSavedByBreakpointsNanoUsd: number;
  /** Requests from which old results were left out. */
  readonly forgetting: number;
  /** The part of `savedTokens` that these were. */
  readonly forgottenTokens: number;
  /** The part of the cost saved that they brought. */
  readonly costSavedByForgettingNanoUsd: number;
  /** Requests in which long results went out in parts. */
  readonly longResults: number;
  /** The part of `savedTokens` that these left out. */
  readonly longResultTokens: number;
  /** The part of the cost saved that they brought. */
  readonly costSavedByLongResultsNanoUsd: number;
  /** Requests in which definitions of tools were trimmed. */
  readonly trimmedTools: number;
  /** The part of `savedTokens` that these repeated. */
  readonly toolTokens: number;
  /** The part of the cost saved that they brought. */
  readonly costSavedByToolsNanoUsd: number;
  /** The part of it that answers from the response cache brought. */
  readonly costSavedByAnswersNanoUsd: number;
  /** The same, of the added tokens; see `knownCostAdded`. */
  readonly costAddedNanoUsd: number;
  /** Requests whose cost is known. */
  readonly priced: number;
  /** Requests whose tokens are known and whose price is not. */
  readonly unpriced: number;
  /** The sum over `timed` requests, in milliseconds. */
  readonly latencySumMs: number;
  readonly timed: number;
}

/** Sums that can still grow. */
export type RunningTotals = { -readonly [K in keyof Totals]: number };

/** Sums over no request at all. */
export function emptyTotals(): RunningTotals {
  return {
    requests: 0,
    errors: 0,
    cancelled: 0,
    cacheHits: 0,
    streamed: 0,
    inputTokens: 0,
    sentInputTokens: 0,
    savedTokens: 0,
    addedTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    marked: 0,
    markedReadTokens: 0,
    markedWriteTokens: 0,
    costNanoUsd: 0,
    costSavedNanoUsd: 0,
    costSavedByBreakpointsNanoUsd: 0,
    forgetting: 0,
    forgottenTokens: 0,
    costSavedByForgettingNanoUsd: 0,
    longResults: 0,
    longResultTokens: 0,
    costSavedByLongResultsNanoUsd: 0,
    trimmedTools: 0,
    toolTokens: 0,
    costSavedByToolsNanoUsd: 0,
    costSavedByAnswersNanoUsd: 0,
    costAddedNanoUsd: 0,
    priced: 0,
    unpriced: 0,
    latencySumMs: 0,
    timed: 0,
  };
}

/** The sums of several groups together. */
export function addTotals(groups: readonly Totals[]): Totals {
  const all = emptyTotals();
  for (const name of Object.keys(all) as (keyof Totals)[])
    for (const group of groups) all[name] += group[name];
  return all;
}

/** Adds a row to the sums. */
export function addToTotals(totals: RunningTotals, row: LedgerRow): void {
  totals.requests += 1;
  if (isFailure(row)) totals.errors += 1;
  if (row.outcome === 'cancelled') totals.cancelled += 1;
  if (row.cacheHit) totals.cacheHits += 1;
  if (row.stream) totals.streamed += 1;
  totals.inputTokens += row.inputTokensRaw ?? 0;
  totals.sentInputTokens += row.inputTokensSent ?? 0;
  totals.savedTokens += row.savedTokens ?? 0;
  totals.addedTokens += row.addedTokens ?? 0;
  totals.outputTokens += row.outputTokens ?? 0;
  totals.cacheReadTokens += row.cacheReadTokens ?? 0;
  totals.cacheWriteTokens += row.cacheWriteTokens ?? 0;
  if (row.breakpoints !== null) {
    totals.marked += 1;
    totals.markedReadTokens += row.cacheReadTokens ?? 0;
    totals.markedWriteTokens += row.cacheWriteTokens ?? 0;
  }
  totals.costSavedByBreakpointsNanoUsd += row.costSavedByBreakpointsNanoUsd ?? 0;
  if (row.forgottenTokens !== null) totals.forgetting += 1;
  totals.forgottenTokens += row.forgottenTokens ?? 0;
  totals.costSavedByForgettingNanoUsd += row.costSavedByForgettingNanoUsd ?? 0;
  if (row.longResultTokens !== null) totals.longResults += 1;
  totals.longResultTokens += row.longResultTokens ?? 0;
  totals.costSavedByLongResultsNanoUsd += row.costSavedByLongResultsNanoUsd ?? 0;
  if (row.toolTokens !== null) totals.trimmedTools += 1;
  totals.toolTokens += row.toolTokens ?? 0;
  totals.costSavedByToolsNanoUsd += row.costSavedByToolsNanoUsd ?? 0;
  if (row.cacheHit) totals.costSavedByAnswersNanoUsd += row.costSavedNanoUsd ?? 0;
  totals.costNanoUsd += row.costNanoUsd ?? 0;
  totals.costSavedNanoUsd += row.costSavedNanoUsd ?? 0;
  totals.costAddedNanoUsd += row.costAddedNanoUsd ?? 0;
  if (row.costNanoUsd !== null) totals.priced += 1;
  else if (row.inputTokensSent !== null || row.outputTokens !== null) totals.unpriced += 1;
  if (row.latencyMs === null) return;
  totals.latencySumMs += row.latencyMs;
  totals.timed += 1;
}

/** What the requests cost, in nano-dollars; `null` where tokens were counted and none of them has a price. */
export function knownCost(totals: Totals): number | null {
  return isPriceless(totals) ? null : totals.costNanoUsd;
}

/** What the saved tokens would have cost, likewise. */
export function knownCostSaved(totals: Totals): number | null {
  return isPriceless(totals) ? null : totals.costSavedNanoUsd;
}

/** What compression alone saved, likewise: the rest of the saving after all other lanes. */
export function knownCostSavedByCompression(totals: Totals): number | null {
  const saved = knownCostSaved(totals);
  if (saved === null) return null;
  const { costSavedByBreakpointsNanoUsd: marked, costSavedByAnswersNanoUsd: answers } = totals;
  const leftOut = totals.costSavedByForgettingNanoUsd + totals.costSavedByLongResultsNanoUsd;
  return saved - marked - answers - leftOut - totals.costSavedByToolsNanoUsd;
}

/** What trimming definitions of tools saved, likewise; `null` where none was. */
export function knownCostSavedByTools(totals: Totals): number | null {
  return totals.trimmedTools === 0 || isPriceless(totals) ? null : totals.costSavedByToolsNanoUsd;
}

/** What long results in parts saved, likewise; `null` where there were none. */
export function knownCostSavedByLongResults(totals: Totals): number | null {
  return totals.longResults === 0 || isPriceless(totals)
    ? null
    : totals.costSavedByLongResultsNanoUsd;
}

/** What leaving old results out saved, likewise; `null` where none was. */
export function knownCostSavedByForgetting(totals: Totals): number | null {
  return totals.forgetting === 0 || isPriceless(totals)
    ? null
    : totals.costSavedByForgettingNanoUsd;
}

/** What cache markers brought, likewise; `null` where none were set. */
export function knownCostSavedByBreakpoints(totals: Totals): number | null {
  if (totals.marked === 0 || isPriceless(totals)) return null;
  return totals.costSavedByBreakpointsNanoUsd;
}

/** What kept answers saved, likewise; `null` where none was given. */
export function knownCostSavedByAnswers(totals: Totals): number | null {
  return totals.cacheHits === 0 || isPriceless(totals) ? null : totals.costSavedByAnswersNanoUsd;
}

/** What the added tokens cost, likewise. */
export function knownCostAdded(totals: Totals): number | null {
  return isPriceless(totals) ? null : totals.costAddedNanoUsd;
}

/** What is left of a saving after what was added, in the unit of both; `null` where neither was measured. */
export function netSaving(saved: number | null, added: number | null): number | null {
  return saved === null && added === null ? null : (saved ?? 0) - (added ?? 0);
}

/** What is left of the requests' saving in money after what was added, in nano-dollars. */
export function knownNetSaving(totals: Totals): number | null {
  return netSaving(knownCostSaved(totals), knownCostAdded(totals));
}

/**
 * What requests would have cost as the clients sent them: what was paid and the net saving, in
 * the unit of both. A saving that was not measured counts as none; `null` without a known cost.
 */
export function costWithout(cost: number | null, net: number | null): number | null {
  return cost === null ? null : cost + (net ?? 0);
}

/** Milliseconds as answers and screens show them: to two places, more would be noise. */
export function roundedMs<T extends number | null>(ms: T): T {
  return (ms === null ? null : Math.round(ms * 100) / 100) as T;
}

/** Dollars from whole nano-dollars; `null` stays `null`. */
export function toUsd<T extends number | null>(nanoUsd: T): T {
  return (nanoUsd === null ? null : nanoUsd / 1e9) as T;
}

function isPriceless({ priced, unpriced }: Totals): boolean {
  return priced === 0 && unpriced > 0;
}

/** The mean latency of the requests that were timed, in milliseconds; `null` if none was. */
export function averageLatencyMs(totals: Totals): number | null {
  return totals.timed === 0 ? null : totals.latencySumMs / totals.timed;
}

/** Saved tokens as a percentage of the clients' input tokens; `null` where no input was measured. */
export function savedPercent(totals: Totals): number | null {
  return totals.inputTokens === 0 ? null : (100 * totals.savedTokens) / totals.inputTokens;
}

/** How much of what providers could have read from their prompt cache they did, 0 to 1; `null` if they reported nothing. */
export function promptCacheRatio(totals: Totals): number | null {
  const cacheable = totals.cacheReadTokens + totals.cacheWriteTokens;
  return cacheable === 0 ? null : totals.cacheReadTokens / cacheable;
}
