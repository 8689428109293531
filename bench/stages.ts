/** Time of a request by stage, from the traces that the proxy keeps. */
import type { Trace } from '../stages/ledger/traces.ts';
import { quantiles } from './figures.ts';

/** One stage over many requests; times are milliseconds per request. */
export interface StageTime {
  readonly stage: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Returns quantiles by stage, in graph order. Time inside a stage is the proxy's own work, except
 * in `forward`, which includes the wait for the provider's response head.
 */
export function stageTimes(traces: readonly Trace[]): readonly StageTime[] {
  const byStage = new Map<string, number[]>();
  for (const { stages } of traces) {
    for (const { node, duration_ms: durationMs } of stages) {
      const durations = byStage.get(node);
      if (durations === undefined) byStage.set(node, [durationMs]);
      else durations.push(durationMs);
    }
  }
  return [...byStage].map(([stage, durations]) => {
    const { p50, p99 } = quantiles(durations);
    return { stage, p50Ms: p50, p99Ms: p99 };
  });
}
