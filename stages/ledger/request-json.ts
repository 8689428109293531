/**
 * One request's figures in the specification's format: for lists, the live feed, and the request's
 * own page.
 */
import { figuresJson } from './columns.ts';
import { costWithout, netSaving, roundedMs, toUsd } from './figures.ts';
import { rowBreakpointsJson } from './lanes.ts';
import { missJson } from './miss-json.ts';
import { isFailure } from './row.ts';
import type { LedgerRow } from './row.ts';

/** Members of `/recent` that are only present for requests they apply to. */
type RecentExtras = {
  cache_breakpoints?: ReturnType<typeof rowBreakpointsJson>;
  vault_injection?: ReturnType<typeof injectionJson>;
  cache_miss?: ReturnType<typeof missJson>;
  thoughts_refused?: true;
  thoughts_dropped?: number;
  key?: string;
  project?: string;
};

/**
 * Returns one element of `/recent` (spec §2.6). `input_tokens` are the client's, before compression
 * and injection.
 */
export function recentJson(row: LedgerRow) {
  const net = rowSavingsJson(row);
  const json = {
    request_id: row.id,
    timestamp: new Date(row.startedMs).toISOString(),
    model: row.model ?? row.modelRequested,
    provider: row.provider,
    input_tokens: row.inputTokensRaw,
    sent_input_tokens: row.inputTokensSent,
    output_tokens: row.outputTokens,
    latency_ms: roundedMs(row.latencyMs),
    status_code: row.status,
    outcome: row.outcome,
    tokens_saved: row.savedTokens,
    cost: toUsd(row.costNanoUsd),
    cost_without: toUsd(rowCostWithout(row)),
    cost_saved: net.cost_saved,
    net_tokens_saved: net.net_tokens_saved,
    net_cost_saved: net.net_cost_saved,
  };
  const extras: RecentExtras = {};
  if (row.breakpoints !== null) extras.cache_breakpoints = rowBreakpointsJson(row);
  if (row.chunksInjected !== null) extras.vault_injection = injectionJson(row, row.chunksInjected);
  if (row.thoughtsRefused !== null) extras.thoughts_refused = true;
  if (row.thoughtsDropped !== null) extras.thoughts_dropped = row.thoughtsDropped;
  if (row.keyLabel !== null) extras.key = row.keyLabel;
  if (row.project !== null) extras.project = row.project;
  if (row.cacheMiss !== null) {
    const { cacheMiss, cacheMissDetail, cacheMissedTokens, costCacheMissedNanoUsd } = row;
    extras.cache_miss = missJson(
      cacheMiss,
      cacheMissDetail,
      cacheMissedTokens,
      costCacheMissedNanoUsd,
    );
  }
  return Object.assign(json, extras);
}

function injectionJson(row: LedgerRow, chunks: number) {
  const { tokens_added, cost_added } = rowSavingsJson(row);
  return {
    chunks_injected: chunks,
    tokens_injected: row.tokensInjected,
    tokens_added,
    cost_added,
    top_chunks: row.topChunks ?? [],
  };
}

/**
 * Returns one request with its whole row, for lists that can be filtered and the request's own
 * page. Assigned, because a spread of so many fields takes 30 µs instead of one, and 7 kB of
 * memory.
 */
export function requestJson(row: LedgerRow) {
  return Object.assign(recentJson(row), {
    endpoint: row.endpoint,
    model_requested: row.modelRequested,
    /** The model that answered; null if none did. */
    model_resolved: row.model,
    stream: row.stream,
    mode: row.mode,
    client: row.client,
    session_id: row.sessionId,
    skill: row.skill,
    node: row.node,
    failed: isFailure(row),
    error_kind: row.errorKind,
    error_code: row.errorCode,
    attempts: row.attempts,
    ttfb_ms: roundedMs(row.ttfbMs),
    response_cache_hit: row.cacheHit,
    usage_estimated: row.usageEstimated,
    provider_cache_read_tokens: row.cacheReadTokens,
    provider_cache_creation_tokens: row.cacheWriteTokens,
    ...figuresJson(row),
  });
}

export type RequestJson = ReturnType<typeof requestJson>;

type SavingsFigures = Pick<
  LedgerRow,
  'savedTokens' | 'costSavedNanoUsd' | 'addedTokens' | 'costAddedNanoUsd'
>;

/** Returns what one request saved and what was injected into it, tokens and dollars. */
export function rowSavingsJson(row: SavingsFigures) {
  const { addedTokens, costAddedNanoUsd } = row;
  return {
    tokens_saved: row.savedTokens,
    cost_saved: toUsd(row.costSavedNanoUsd),
    tokens_added: addedTokens,
    cost_added: toUsd(costAddedNanoUsd),
    net_tokens_saved: netSaving(row.savedTokens, addedTokens),
    net_cost_saved: toUsd(netSaving(row.costSavedNanoUsd, costAddedNanoUsd)),
  };
}

/** Returns what one request would have cost as the client sent it, in nano-dollars. */
export function rowCostWithout(row: SavingsFigures & Pick<LedgerRow, 'costNanoUsd'>) {
  return costWithout(row.costNanoUsd, netSaving(row.costSavedNanoUsd, row.costAddedNanoUsd));
}
