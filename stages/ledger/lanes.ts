/**
 * Savings by source: nothing is in two of them, and together they are the saving of
 * `knownCostSaved`. What providers read from their own caches on their own is in none.
 */
import { knownCostSavedBy, knownCostSavedByCompression, toUsd } from './figures.ts';
import type { Totals } from './figures.ts';
import type { LedgerRow } from './row.ts';

/**
 * Returns the sources of savings for `/savings`, `svc savings` and `svc demo`; tokens and dollars.
 */
export function lanesJson(totals: Totals) {
  return {
    compression: {
      tokens_saved:
        totals.savedTokens - totals.forgottenTokens - totals.longResultTokens - totals.toolTokens,
      cost_saved_usd: toUsd(knownCostSavedByCompression(totals)),
    },
    cache_breakpoints: breakpointsJson(totals),
    /** Old results that were left out at cold moments, from then on in every turn. */
    forgetting: {
      requests: totals.forgetting,
      tokens_saved: totals.forgottenTokens,
      cost_saved_usd: toUsd(knownCostSavedBy('forgetting', totals)),
    },
    /** Long results that were sent in part, in every turn from their first. */
    long_results: {
      requests: totals.longResults,
      tokens_saved: totals.longResultTokens,
      cost_saved_usd: toUsd(knownCostSavedBy('longResults', totals)),
    },
    /** Tool definitions without their repetitions. */
    tools: {
      requests: totals.trimmedTools,
      tokens_saved: totals.toolTokens,
      cost_saved_usd: toUsd(knownCostSavedBy('tools', totals)),
    },
    response_cache: {
      requests: totals.cacheHits,
      cost_saved_usd: toUsd(knownCostSavedBy('answers', totals)),
    },
    /** Credited to no source: what clients or providers cached themselves. */
    provider_cache: {
      read_tokens: totals.cacheReadTokens - totals.markedReadTokens,
      written_tokens: totals.cacheWriteTokens - totals.markedWriteTokens,
    },
  };
}

export type Lanes = ReturnType<typeof lanesJson>;

/**
 * Returns what providers read and wrote because of svc's markers, and the saving by their own
 * usage.
 */
export function breakpointsJson(totals: Totals) {
  return {
    requests: totals.marked,
    read_tokens: totals.markedReadTokens,
    written_tokens: totals.markedWriteTokens,
    cost_saved_usd: toUsd(knownCostSavedBy('breakpoints', totals)),
  };
}

type MarkedFigures = Pick<
  LedgerRow,
  'breakpoints' | 'costSavedByBreakpointsNanoUsd' | 'cacheReadTokens' | 'cacheWriteTokens'
>;

/** Returns the same for one request; null if none were set. */
export function rowBreakpointsJson(row: MarkedFigures) {
  if (row.breakpoints === null) return null;
  return {
    set: row.breakpoints,
    read_tokens: row.cacheReadTokens,
    written_tokens: row.cacheWriteTokens,
    cost_saved: toUsd(row.costSavedByBreakpointsNanoUsd),
  };
}
