/** The metrics that an alert may watch, defined as everywhere else. */

/**
 * `window` covers the rule's window, `day` the current UTC day, `now` this moment; `live` comes
 * from a running proxy only.
 */
export type MetricSpan = 'window' | 'day' | 'now' | 'live';

/** Each metric with its span. */
export const ALERT_METRICS = {
  /** Share of failed requests, 0 to 1. */
  error_rate: 'window',
  errors: 'window',
  requests: 'window',
  p50_latency_ms: 'window',
  p95_latency_ms: 'window',
  p99_latency_ms: 'window',
  average_latency_ms: 'window',
  cost_usd: 'window',
  /** Saved tokens as a percentage of the clients' input tokens. */
  saved_percent: 'window',
  /** Attempts at providers after which the request went to another provider, or failed. */
  failed_attempts: 'window',
  /** Thinking blocks that providers report as not shown to the model. */
  thoughts_dropped: 'window',
  cost_today_usd: 'day',
  requests_today: 'day',
  /** Mebibytes free on the disk of the home folder. */
  disk_free_mb: 'now',
  /** Promises that the newest `svc certify` on this machine found broken, out of five. */
  broken_promises: 'now',
  unhealthy_providers: 'live',
  /** Use of the tightest limit of the day or the month in `budget`; 100 is all of it. */
  budget_used_percent: 'live',
  /**
   * Use of the tightest limit of the day or the month, of any project, or any key used since the
   * start.
   */
  owner_budget_used_percent: 'live',
  /** Use of the fullest window of any plan; 100 is all of it. */
  plan_used_percent: 'live',
  /** Minutes until the first plan window is used up at its current rate. */
  plan_minutes_left: 'live',
  /** Ledger rows lost since the start. */
  dropped_rows: 'live',
} as const satisfies Readonly<Record<string, MetricSpan>>;

export type AlertMetric = keyof typeof ALERT_METRICS;

export function isAlertMetric(name: string): name is AlertMetric {
  return Object.hasOwn(ALERT_METRICS, name);
}
