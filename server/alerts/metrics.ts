/** The figures that an alert may watch. Their definitions are those of every other surface. */

/** `window` is over the rule's window, `day` over the present UTC day, `now` at this moment; `live` is known to a running proxy alone. */
export type MetricSpan = 'window' | 'day' | 'now' | 'live';

/** Each metric with the span that it is of. */
export const ALERT_METRICS = {
  /** Failed requests by all, 0 to 1. */
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
  /** Tries at providers after which the request went to another, or failed. */
  failed_attempts: 'window',
  /** Thoughts that providers say they have not shown to the model. */
  thoughts_dropped: 'window',
  cost_today_usd: 'day',
  requests_today: 'day',
  /** Mebibytes free on the disk of the home folder. */
  disk_free_mb: 'now',
  /** Promises that the newest `svc certify` on this machine found broken, of five. */
  broken_promises: 'now',
  unhealthy_providers: 'live',
  /** Of the tightest limit of the day and the month in `budget`; 100 is all of it. */
  budget_used_percent: 'live',
  /** Of the tightest limit of the day and the month of any project, and of any key that was used since the start. */
  owner_budget_used_percent: 'live',
  /** Of the fullest window of any plan; 100 is all of it. */
  plan_used_percent: 'live',
  /** Minutes until the first window of a plan is used up at its present pace. */
  plan_minutes_left: 'live',
  /** Rows that the ledger has lost since the start. */
  dropped_rows: 'live',
} as const satisfies Readonly<Record<string, MetricSpan>>;

export type AlertMetric = keyof typeof ALERT_METRICS;

export function isAlertMetric(name: string): name is AlertMetric {
  return Object.hasOwn(ALERT_METRICS, name);
}
