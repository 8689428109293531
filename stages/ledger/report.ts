/**
 * The ledger's figures in the specification's format (§2.3 to §2.9 and the savings report). Here,
 * and not at the routes, because the command line gives the same results with the same JSON when no
 * proxy runs.
 */
import { figuresJson } from './columns.ts';
import type { Totals } from './figures.ts';
import {
  averageLatencyMs,
  costWithout,
  knownCost,
  knownCostAdded,
  knownCostSaved,
  knownNetSaving,
  promptCacheRatio,
  roundedMs,
  savedPercent,
  toUsd,
} from './figures.ts';
import { breakpointsJson, lanesJson } from './lanes.ts';
import type { WindowFigures } from './metrics.ts';
import type { DayReport, SavingsReport } from './queries.ts';
import { rowSavingsJson } from './request-json.ts';
import { UNKNOWN } from './row.ts';
import type { SessionWindow } from './window.ts';

/** Returns what was added, with its price, and the net saving; dollars. */
function netJson(totals: Totals) {
  return {
    tokens_added: totals.addedTokens,
    cost_added: toUsd(knownCostAdded(totals)),
    net_tokens_saved: totals.savedTokens - totals.addedTokens,
    net_cost_saved: toUsd(knownNetSaving(totals)),
  };
}

/** Returns the common sums of a session and of a day; dollars. */
function sumsJson(totals: Totals) {
  return {
    requests: totals.requests,
    input_tokens: totals.inputTokens,
    sent_input_tokens: totals.sentInputTokens,
    saved_tokens: totals.savedTokens,
    output_tokens: totals.outputTokens,
    errors: totals.errors,
    cache_hits: totals.cacheHits,
    cost: toUsd(knownCost(totals)),
    unpriced: totals.unpriced,
    cost_saved: toUsd(knownCostSaved(totals)),
    ...netJson(totals),
  };
}

/** `/stats` `session` and `/health` `stats`, with the start in epoch seconds. */
export function sessionJson(window: SessionWindow) {
  return { ...sumsJson(window.totals()), start_time: window.startedMs / 1000 };
}

/** `/stats` `today`. */
export function todayJson(totals: Totals) {
  return { ...sumsJson(totals), avg_latency_ms: roundedMs(averageLatencyMs(totals)) };
}

/** Returns the sums of any group of requests, with derived figures. */
export function totalsJson(totals: Totals) {
  return Object.assign(todayJson(totals), {
    saved_percent: savedPercent(totals),
    cost_without: toUsd(costWithout(knownCost(totals), knownNetSaving(totals))),
    provider_cache_read_tokens: totals.cacheReadTokens,
    provider_cache_creation_tokens: totals.cacheWriteTokens,
    ...figuresJson(totals),
  });
}

/**
 * Returns `/stats` `by_model`, `by_key` and `by_project`. The object has no prototype: a model may
 * be called `__proto__`.
 */
export function byNameJson(groups: ReadonlyMap<string, Totals>) {
  return toObject([...groups], (totals) => ({
    requests: totals.requests,
    input_tokens: totals.inputTokens,
    saved_tokens: totals.savedTokens,
    output_tokens: totals.outputTokens,
    cost: toUsd(knownCost(totals)),
    unpriced: totals.unpriced,
    ...netJson(totals),
  }));
}

/**
 * Returns `/stats/last` (spec §2.4) of a session with at least one request, or its response for
 * none.
 */
export function lastJson(window: SessionWindow) {
  const row = window.last();
  if (row === undefined) {
    return { error: 'no_requests', message: 'No request has gone through the proxy yet' };
  }
  const totals = window.totals();
  const net = rowSavingsJson(row);
  const measured =
    row.savedTokens !== null && row.inputTokensRaw !== null && row.inputTokensRaw > 0;
  return {
    request_id: row.id,
    timestamp: new Date(row.startedMs).toISOString(),
    model: row.model ?? row.modelRequested,
    tokens_saved: row.savedTokens,
    percent_saved: measured ? (100 * row.savedTokens) / row.inputTokensRaw : null,
    cost_saved: net.cost_saved,
    tokens_added: net.tokens_added,
    cost_added: net.cost_added,
    net_tokens_saved: net.net_tokens_saved,
    net_cost_saved: net.net_cost_saved,
    session_total_saved: toUsd(knownCostSaved(totals)),
    session_requests: totals.requests,
    input_tokens_raw: row.inputTokensRaw,
    input_tokens_sent: row.inputTokensSent,
    output_tokens: row.outputTokens,
  };
}

/** `/stats/session` (spec §2.5). */
export function sessionSummaryJson(window: SessionWindow, nowMs: number) {
  const totals = window.totals();
  return {
    session_requests: totals.requests,
    session_total_saved: toUsd(knownCostSaved(totals)),
    tokens_saved: totals.savedTokens,
    tokens_sent: totals.sentInputTokens,
    tokens_raw: totals.inputTokens,
    output_tokens: totals.outputTokens,
    total_cost: toUsd(knownCost(totals)),
    unpriced: totals.unpriced,
    uptime_hours: (nowMs - window.startedMs) / 3_600_000,
    errors: totals.errors,
    avg_savings_pct: savedPercent(totals),
    ...netJson(totals),
  };
}

/** Returns `/savings`: the sums over all sources, and each source separately. */
export function savingsJson(report: SavingsReport) {
  const saved = (totals: Totals) => ({
    requests: totals.requests,
    tokens_saved: totals.savedTokens,
    cost_saved_usd: toUsd(knownCostSaved(totals)),
    tokens_added: totals.addedTokens,
    cost_added_usd: toUsd(knownCostAdded(totals)),
    net_tokens_saved: totals.savedTokens - totals.addedTokens,
    net_cost_saved_usd: toUsd(knownNetSaving(totals)),
  });
  const all = saved(report.totals);
  return {
    total_requests: all.requests,
    total_tokens_saved: all.tokens_saved,
    total_cost_saved_usd: all.cost_saved_usd,
    total_tokens_added: all.tokens_added,
    total_cost_added_usd: all.cost_added_usd,
    total_net_tokens_saved: all.net_tokens_saved,
    total_net_cost_saved_usd: all.net_cost_saved_usd,
    unpriced: report.totals.unpriced,
    lanes: lanesJson(report.totals),
    savings_by_model: toObject(
      report.byModel.map((group) => [group.key ?? UNKNOWN, group]),
      saved,
    ),
    savings_by_date_7d: toObject(
      report.byDate7d.map((day) => [day.date, day]),
      saved,
    ),
    provider_cache_read_tokens: report.totals.cacheReadTokens,
  };
}

/** The inputs of `/metrics/dashboard`. */
export interface DashboardFacts {
  readonly nowMs: number;
  readonly uptimeSeconds: number;
  /** Rates and percentiles of the latest seconds. */
  readonly window: WindowFigures | undefined;
  /** Share of requests that a routing rule redirected, 0 to 1. */
  readonly routingHitRate: number | null;
  /** The last 24 hours of the ledger, the basis of all other figures. */
  readonly day: DayReport;
}

/**
 * Returns `/metrics/dashboard` (spec §2.9). Sums are of the last 24 hours, rates and latency of the
 * window.
 */
export function dashboardJson({
  nowMs,
  uptimeSeconds,
  window,
  routingHitRate,
  day,
}: DashboardFacts) {
  const { totals, byModel, failures } = day;
  const share = (count: number) => (totals.requests === 0 ? null : count / totals.requests);
  return {
    timestamp: new Date(nowMs).toISOString(),
    uptime_seconds: uptimeSeconds,
    requests: {
      total: totals.requests,
      throughput_req_per_sec: window?.requestsPerSecond ?? null,
      window_seconds: window === undefined ? null : window.windowMs / 1000,
      '24h_window': true,
    },
    latency: {
      p50_ms: roundedMs(window?.p50Ms ?? null),
      p95_ms: roundedMs(window?.p95Ms ?? null),
      p99_ms: roundedMs(window?.p99Ms ?? null),
      avg_ms: roundedMs(window?.averageMs ?? null),
      samples: window?.samples ?? 0,
    },
    models: toObject(
      byModel.map((group) => [group.key ?? UNKNOWN, group]),
      (group: Totals) => ({
        requests: group.requests,
        input_tokens: group.inputTokens,
        output_tokens: group.outputTokens,
        saved_tokens: group.savedTokens,
        cost: toUsd(knownCost(group)),
      }),
    ),
    routing: { smart_routing_hit_rate: routingHitRate },
    cache: {
      hit_ratio: promptCacheRatio(totals),
      read_tokens: totals.cacheReadTokens,
      creation_tokens: totals.cacheWriteTokens,
      response_cache_hits: totals.cacheHits,
    },
    errors: {
      error_rate: share(totals.errors),
      error_count: totals.errors,
      top_failures: toObject(
        failures
          .slice(0, TOP_FAILURES)
          .map(({ status, requests }) => [String(status ?? 'none'), requests]),
        (requests: number) => requests,
      ),
    },
    streaming: {
      count: totals.streamed,
      percentage: totals.requests === 0 ? null : (100 * totals.streamed) / totals.requests,
    },
    window_24h: {
      input_tokens: totals.inputTokens,
      sent_input_tokens: totals.sentInputTokens,
      output_tokens: totals.outputTokens,
      saved_tokens: totals.savedTokens,
      total_cost: toUsd(knownCost(totals)),
      unpriced: totals.unpriced,
      total_cost_saved: toUsd(knownCostSaved(totals)),
    },
  };
}

/** Statuses listed among the failures of the day. */
const TOP_FAILURES = 10;

/** Figures of a cache that only saves time. */
export interface SpeedCacheFigures {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  readonly sizeBytes: number;
}

/**
 * Returns `/cache-stats`: the compression cache saves our own time, the prompt cache is the
 * provider's. The response cache is `null` if disabled. Ratios are 0 to 1, `null` before the first
 * look-up.
 */
export function cacheStatsJson(
  window: SessionWindow,
  compression: SpeedCacheFigures,
  responses: SpeedCacheFigures | null,
) {
  const promptJson = (totals: Totals) => ({
    read_tokens: totals.cacheReadTokens,
    creation_tokens: totals.cacheWriteTokens,
    hit_ratio: promptCacheRatio(totals),
  });
  return {
    response_cache: responses === null ? null : speedCacheJson(responses),
    compression_cache: speedCacheJson(compression),
    prompt_cache: {
      ...promptJson(window.totals()),
      breakpoints: breakpointsJson(window.totals()),
      // A request that reached no provider says nothing about a provider's cache.
      providers: toObject(
        [...window.byProvider()].filter(([name]) => name !== UNKNOWN),
        promptJson,
      ),
    },
  };
}

function speedCacheJson({ hits, misses, entries, sizeBytes }: SpeedCacheFigures) {
  const lookups = hits + misses;
  return {
    hits,
    misses,
    hit_ratio: lookups === 0 ? null : hits / lookups,
    entries,
    bytes: sizeBytes,
  };
}

function toObject<T, R>(
  entries: readonly (readonly [string, T])[],
  render: (value: T) => R,
): { [key: string]: R } {
  const object = Object.create(null) as { [key: string]: R };
  for (const [key, value] of entries) object[key] = render(value);
  return object;
}
