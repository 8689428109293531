/** Measures the metrics of rules, as the ledger defines them. */
import { statfs } from 'node:fs/promises';
import { averageLatencyMs, knownCost, savedPercent, toUsd } from '../../stages/ledger/figures.ts';
import type { AttemptSums } from '../../stages/ledger/attempts.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import { readBrokenPromises } from '../certify/stored-result.ts';
import type { AskLedger } from '../control/ledger-questions.ts';
import type { AlertMetric } from './metrics.ts';

/** Figures that only a running proxy has. */
export interface LiveFigures {
  readonly unhealthyProviders: number;
  readonly droppedRows: number;
  /** Null if no limit of the day is in force. */
  readonly budgetUsedPercent: number | null;
  /** Null if no key or project has a known limit. */
  readonly ownerBudgetUsedPercent: number | null;
  /** Null if no plan window is known. */
  readonly planUsedPercent: number | null;
  /** Null if every window lasts until its reset. */
  readonly planMinutesLeft: number | null;
}

export interface MeasureOptions {
  readonly nowMs: number;
  readonly home: string;
  readonly live: LiveFigures | undefined;
  readonly ask: AskLedger;
}

type Measure = (windowMs: number, options: MeasureOptions) => Promise<number | null>;

const MEASURES: Readonly<Record<AlertMetric, Measure>> = {
  error_rate: overWindow(({ requests, errors }) => (requests === 0 ? null : errors / requests)),
  errors: overWindow(({ errors }) => errors),
  requests: overWindow(({ requests }) => requests),
  p50_latency_ms: latency(0.5),
  p95_latency_ms: latency(0.95),
  p99_latency_ms: latency(0.99),
  average_latency_ms: overWindow(averageLatencyMs),
  cost_usd: overWindow(costUsd),
  saved_percent: overWindow(savedPercent),
  failed_attempts: attempts(({ failedAttempts }) => failedAttempts),
  thoughts_dropped: attempts(({ thoughtsDropped }) => thoughtsDropped),
  cost_today_usd: today(costUsd),
  requests_today: today(({ requests }) => requests),
  disk_free_mb: async (_windowMs, { home }) => {
    const { bavail, bsize } = await statfs(home);
    return (bavail * bsize) / 2 ** 20;
  },
  broken_promises: async (_windowMs, { home }) => readBrokenPromises(home),
  unhealthy_providers: async (_windowMs, { live }) => live?.unhealthyProviders ?? null,
  owner_budget_used_percent: async (_windowMs, { live }) => live?.ownerBudgetUsedPercent ?? null,
  budget_used_percent: async (_windowMs, { live }) => live?.budgetUsedPercent ?? null,
  plan_used_percent: async (_windowMs, { live }) => live?.planUsedPercent ?? null,
  plan_minutes_left: async (_windowMs, { live }) => live?.planMinutesLeft ?? null,
  dropped_rows: async (_windowMs, { live }) => live?.droppedRows ?? null,
};

/**
 * Returns the value of a metric; null if there was nothing to measure. Rejects if measuring fails.
 */
export function measure(
  metric: AlertMetric,
  windowMs: number,
  options: MeasureOptions,
): Promise<number | null> {
  return MEASURES[metric](windowMs, options);
}

function overWindow(of: (sums: Totals) => number | null): Measure {
  return (windowMs, { nowMs, ask }) =>
    ask(async (reader, queries) =>
      of(await queries.totalsOf(reader, { sinceMs: nowMs - windowMs })),
    );
}

function attempts(of: (sums: AttemptSums) => number): Measure {
  return (windowMs, { nowMs, ask }) =>
    ask(async (reader, queries) =>
      of(await queries.attemptSums(reader, { sinceMs: nowMs - windowMs })),
    );
}

function today(of: (sums: Totals) => number | null): Measure {
  return (_windowMs, { nowMs, ask }) =>
    ask(async (reader, queries) => of(await queries.totalsOfToday(reader, nowMs)));
}

function latency(share: number): Measure {
  return (windowMs, { nowMs, ask }) =>
    ask((reader, queries) =>
      queries.latencyPercentile(reader, { sinceMs: nowMs - windowMs }, share),
    );
}

function costUsd(sums: Totals): number | null {
  return toUsd(knownCost(sums));
}
