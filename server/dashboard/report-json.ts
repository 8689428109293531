/**
 * The dashboard's report on a time range. Each figure has the same source as in `svc stats --json`
 * and `/savings`.
 */
import { roundedMs, toUsd } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { Stack } from '../../stages/ledger/stacked-series.ts';
import { lanesJson } from '../../stages/ledger/lanes.ts';
import type {
  LatencySpread,
  RangeReport,
  SessionReport,
} from '../../stages/ledger/range-report.ts';
import type { GroupTotals } from '../../stages/ledger/queries.ts';
import { totalsJson } from '../../stages/ledger/report.ts';
import type { ToolGroup } from '../../stages/ledger/tools/tool-sums.ts';
import { toolTotalsJson } from '../../stages/ledger/tools/tool-totals.ts';

/** Possible steps of a series. */
const STEPS_MS = [
  10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800, 2_592_000,
].map((seconds) => seconds * 1000);
const MAX_STEPS = 75;

/** Returns the smallest step for which a chart of this length is still readable. */
export function stepFor(lengthMs: number): number {
  return STEPS_MS.find((stepMs) => lengthMs / stepMs <= MAX_STEPS) ?? STEPS_MS.at(-1)!;
}

/** The range of a report. */
export interface ReportRange {
  readonly sinceMs: number;
  /** Start of the series: the first request in the range. */
  readonly seriesSinceMs: number;
  readonly untilMs: number;
  readonly bucketMs: number;
}

/** Builds `/dashboard/api/report`. */
export function reportJson(
  report: RangeReport,
  { sinceMs, seriesSinceMs, untilMs, bucketMs }: ReportRange,
) {
  const { totals, injections } = report;
  return {
    since: isoOf(sinceMs),
    series_since: isoOf(seriesSinceMs),
    until: isoOf(untilMs),
    bucket_seconds: bucketMs / 1000,
    totals: { ...totalsJson(totals), cancelled: totals.cancelled, streamed: totals.streamed },
    latency: { ...latencyJson(report.latency), samples: report.latency.samples },
    series: report.buckets.map((bucket) => ({
      timestamp: isoOf(bucket.startMs),
      ...totalsJson(bucket.totals),
      ...latencyJson(bucket),
    })),
    by_model: report.byModel.map(groupJson),
    by_provider: report.byProvider.map(groupJson),
    by_client: report.byClient.map(groupJson),
    failures: report.failures.map((group) => ({
      status: group.status,
      error_kind: group.errorKind,
      error_code: group.errorCode,
      provider: group.provider,
      requests: group.requests,
      client: group.client,
      clients: group.clients,
      last: isoOf(group.lastMs),
      last_request_id: group.lastId,
    })),
    attempts: {
      failed: report.attempts.failedAttempts,
      answered_later: report.attempts.answeredLater,
      thoughts_dropped: report.attempts.thoughtsDropped,
      thoughts_refused: report.attempts.thoughtsRefused,
    },
    lanes: lanesJson(totals),
    injections: {
      requests: injections.requests,
      chunks: injections.chunks,
      blocks: injections.blocks.map(({ id, requests }) => ({ block_id: id, requests })),
    },
  };
}

/** Builds `/dashboard/api/stacks`. */
export function stacksJson(
  stacks: readonly Stack[],
  { sinceMs, untilMs, bucketMs }: Omit<ReportRange, 'seriesSinceMs'>,
) {
  const figuresOf = ({ requests, costNanoUsd, sentInputTokens, priced }: Totals) => ({
    requests,
    cost: priced === 0 ? null : toUsd(costNanoUsd),
    sent_input_tokens: sentInputTokens,
  });
  return {
    series_since: isoOf(sinceMs),
    until: isoOf(untilMs),
    bucket_seconds: bucketMs / 1000,
    /** The names with the highest cost, and last the sum of all others. */
    stacks: stacks.map(({ name, isRest, totals, steps }) => ({
      name,
      rest: isRest,
      ...figuresOf(totals),
      series: [...steps].map(([step, sums]) => ({
        timestamp: isoOf(step * bucketMs),
        ...figuresOf(sums),
      })),
    })),
  };
}

/** Builds one conversation of `/dashboard/api/conversations`. */
export function sessionReportJson({ sessionId, client, firstMs, lastMs, totals }: SessionReport) {
  return {
    session_id: sessionId,
    client,
    first: isoOf(firstMs),
    last: isoOf(lastMs),
    ...totalsJson(totals),
  };
}

/** Groups shown: those with the most calls, then those with the largest definitions. */
const MAX_TOOLS = 200;

/** Builds a list of `/dashboard/api/tools`; the name is null for tools without a server. */
export function toolGroupsJson(groups: readonly ToolGroup[]) {
  return groups.slice(0, MAX_TOOLS).map(({ keys: [name = null], totals }) => ({
    name,
    ...toolTotalsJson(totals),
  }));
}

function groupJson({ key, ...totals }: GroupTotals) {
  return { name: key, ...totalsJson(totals) };
}

function latencyJson({ p50Ms, p95Ms, p99Ms }: LatencySpread) {
  return { p50_ms: roundedMs(p50Ms), p95_ms: roundedMs(p95Ms), p99_ms: roundedMs(p99Ms) };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
