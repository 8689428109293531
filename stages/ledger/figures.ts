/**
 * What the ledger's sums mean: one definition for the live window, which adds
 * rows up as they come, and for the file, which is asked later. A test holds
 * the two against each other.
 */
import type { LedgerRow } from './row.ts';
import { isFailure } from './row.ts';

/** Every sum, and what it is of. */
const NONE = {
  requests: 0,
  /** Requests that failed, as `isFailure` defines it. */
  errors: 0,
  /** Requests whose client disconnected. */
  cancelled: 0,
  /** Requests answered by our own response cache. */
  cacheHits: 0,
  /** Requests that asked for a stream. */
  streamed: 0,
  /** Input tokens as the clients sent them, without what was injected. */
  inputTokens: 0,
  /** Input tokens as they went upstream. */
  sentInputTokens: 0,
  savedTokens: 0,
  /** Input tokens that were injected from the vault. */
  addedTokens: 0,
  outputTokens: 0,
  /** Tokens that providers read from their own prompt caches. */
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  /** Requests that carried cache markers of ours. */
  marked: 0,
  /** The part of `cacheReadTokens` that marked requests read. */
  markedReadTokens: 0,
  /** The part of `cacheWriteTokens` that they wrote. */
  markedWriteTokens: 0,
  /** Whole nano-dollars; of `priced` requests only, see `knownCost`. */
  costNanoUsd: 0,
  /** The same, of all lanes together; see `knownCostSaved`. */
  costSavedNanoUsd: 0,
  /** The part of it that cache markers brought. */
  costSavedByBreakpointsNanoUsd: 0,
  /** Requests from which old results were left out. */
  forgetting: 0,
  /** The part of `savedTokens` that these were. */
  forgottenTokens: 0,
  /** The part of the cost saved that they brought. */
  costSavedByForgettingNanoUsd: 0,
  /** Requests in which long results went out in parts. */
  longResults: 0,
  /** The part of `savedTokens` that these left out. */
  longResultTokens: 0,
  /** The part of the cost saved that they brought. */
  costSavedByLongResultsNanoUsd: 0,
  /** Requests in which definitions of tools were trimmed. */
  trimmedTools: 0,
  /** The part of `savedTokens` that these repeated. */
  toolTokens: 0,
  /** The part of the cost saved that they brought. */
  costSavedByToolsNanoUsd: 0,
  /** The part of it that answers from the response cache brought. */
  costSavedByAnswersNanoUsd: 0,
  /** The same, of the added tokens; see `knownCostAdded`. */
  costAddedNanoUsd: 0,
  /** Requests whose cost is known. */
  priced: 0,
  /** Requests whose tokens are known and whose price is not. */
  unpriced: 0,
  /** The sum over `timed` requests, in milliseconds. */
  latencySumMs: 0,
  timed: 0,
};

/** Sums that can still grow. */
export type RunningTotals = Record<keyof typeof NONE, number>;

/** Sums over requests. Rows in which a figure is `null` do not take part in that figure. */
export type Totals = Readonly<RunningTotals>;

/** Sums over no request at all. */
export function emptyTotals(): RunningTotals {
  return { ...NONE };
}

/** The sums of several groups together. */
export function addTotals(groups: readonly Totals[]): Totals {
  const all = emptyTotals();
  for (const name of Object.keys(all) as (keyof Totals)[])
    for (const group of groups) all[name] += group[name];
  return all;
}

/** Takes sums that are a part of `totals` out of them. */
export function subtractTotals(totals: RunningTotals, part: Totals): void {
  for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] -= part[name];
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
  return Object.values(LANES).reduce((rest, [, lane]) => rest - totals[lane], saved);
}

/** The lanes beside compression: the sum of the requests that took each, and of what it saved them. */
const LANES = {
  breakpoints: ['marked', 'costSavedByBreakpointsNanoUsd'],
  answers: ['cacheHits', 'costSavedByAnswersNanoUsd'],
  forgetting: ['forgetting', 'costSavedByForgettingNanoUsd'],
  longResults: ['longResults', 'costSavedByLongResultsNanoUsd'],
  tools: ['trimmedTools', 'costSavedByToolsNanoUsd'],
} as const satisfies Readonly<Record<string, readonly [keyof Totals, keyof Totals]>>;

/** What one of the other lanes saved, likewise; `null` where no request took it. */
export function knownCostSavedBy(lane: keyof typeof LANES, totals: Totals): number | null {
  const [requests, saved] = LANES[lane];
  return totals[requests] === 0 || isPriceless(totals) ? null : totals[saved];
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

/**
 * How much of the input providers read from their prompt cache, 0 to 1; `null` if they reported
 * nothing of one. What they wrote to it says little: some kinds of providers do not report that.
 */
export function promptCacheRatio(totals: Totals): number | null {
  const { cacheReadTokens, cacheWriteTokens, sentInputTokens } = totals;
  if (cacheReadTokens + cacheWriteTokens === 0 || sentInputTokens === 0) return null;
  return Math.min(1, cacheReadTokens / sentInputTokens);
}
