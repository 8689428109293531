/**
 * What `/metrics` and the live charts need besides the sums of the session: the distribution of
 * durations, and rates and percentiles over the latest seconds. Collecting can be turned off.
 */
import type { KeptSpans } from '../../engine/index.ts';
import { DURATION_BUCKETS_S, HistogramsByName, STAGE_BUCKETS_S } from './histogram.ts';
import type { HistogramView } from './histogram.ts';
import { UNKNOWN } from './row.ts';
import type { LedgerRow } from './row.ts';
import type { LatencySpread } from './latency.ts';

/** Names with their own series in each histogram; those past it are counted together. */
const MAX_NAMES = 40;
/** How many of the window's latest requests rates and percentiles are based on. A power of two. */
const WINDOW_SAMPLES = 1 << 15;

export interface MetricsSettings {
  readonly enabled: boolean;
  /** The window of rates and percentiles. */
  readonly windowMs: number;
}

/** Rates and percentiles of the window; `null` if no request in it was measured. */
export interface WindowFigures extends LatencySpread {
  readonly windowMs: number;
  /** Finished requests per second, over the window or, if shorter, since the start. */
  readonly requestsPerSecond: number | null;
  readonly averageMs: number | null;
  readonly samples: number;
}

type NamedViews = readonly (readonly [name: string, view: HistogramView])[];

export interface DurationViews {
  readonly byProvider: NamedViews;
  readonly byModel: NamedViews;
  readonly firstByteByProvider: NamedViews;
  readonly byStage: NamedViews;
}

/** `monotonicMs` reads a clock that never jumps. Collects nothing until it is configured. */
export class Metrics {
  enabled = false;
  readonly #monotonicMs: () => number;
  #startedMs: number;
  #windowMs = 60_000;
  #byProvider = new HistogramsByName(DURATION_BUCKETS_S, MAX_NAMES);
  #byModel = new HistogramsByName(DURATION_BUCKETS_S, MAX_NAMES);
  #firstByte = new HistogramsByName(DURATION_BUCKETS_S, MAX_NAMES);
  #byStage = new HistogramsByName(STAGE_BUCKETS_S, MAX_NAMES);
  /** Two rings: when a request ended, and how long it took (`NaN` if unknown). */
  readonly #endedMs = new Float64Array(WINDOW_SAMPLES);
  readonly #latencyMs = new Float64Array(WINDOW_SAMPLES);
  #added = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#startedMs = monotonicMs();
  }

  configure({ enabled, windowMs }: MetricsSettings): void {
    this.#windowMs = windowMs;
    if (enabled && !this.enabled) this.#startedMs = this.#monotonicMs();
    if (!enabled) this.#added = 0;
    this.enabled = enabled;
  }

  /** Records a finished request; does nothing while collecting is off. */
  add(row: LedgerRow): void {
    if (!this.enabled) return;
    const place = this.#added % WINDOW_SAMPLES;
    this.#endedMs[place] = this.#monotonicMs();
    this.#latencyMs[place] = row.latencyMs ?? Number.NaN;
    this.#added += 1;
    if (row.latencyMs === null) return;
    const provider = row.provider ?? UNKNOWN;
    this.#byProvider.add(provider, row.latencyMs / 1000);
    this.#byModel.add(row.model ?? UNKNOWN, row.latencyMs / 1000);
    if (row.ttfbMs !== null) this.#firstByte.add(provider, row.ttfbMs / 1000);
  }

  /** Records the times of a finished run's stages by their names in the graph, while collecting. */
  addStages(spans: KeptSpans): void {
    if (!this.enabled) return;
    spans.visitTimes((stage, busyMs) => this.#byStage.add(stage, busyMs / 1000));
  }

  durations(): DurationViews {
    return {
      byProvider: this.#byProvider.views(),
      byModel: this.#byModel.views(),
      firstByteByProvider: this.#firstByte.views(),
      byStage: this.#byStage.views(),
    };
  }

  /** Returns the figures of the window; undefined while collecting is off. */
  window(): WindowFigures | undefined {
    if (!this.enabled) return undefined;
    const nowMs = this.#monotonicMs();
    const sampleCount = Math.min(this.#added, WINDOW_SAMPLES);
    const latenciesMs = new Float64Array(sampleCount);
    let requests = 0;
    let samples = 0;
    let sumMs = 0;
    for (let age = 1; age <= sampleCount; age += 1) {
      const place = (this.#added - age) % WINDOW_SAMPLES;
      if (this.#endedMs[place]! < nowMs - this.#windowMs) break;
      requests += 1;
      const latencyMs = this.#latencyMs[place]!;
      if (Number.isNaN(latencyMs)) continue;
      latenciesMs[samples] = latencyMs;
      samples += 1;
      sumMs += latencyMs;
    }
    const sorted = latenciesMs.subarray(0, samples).toSorted();
    // If the ring is full within the window, the rate is that of the requests in it.
    const isFull = requests === WINDOW_SAMPLES;
    const oldestMs = isFull ? this.#endedMs[this.#added % WINDOW_SAMPLES]! : this.#startedMs;
    const spanMs = Math.min(this.#windowMs, nowMs - oldestMs);
    return {
      windowMs: this.#windowMs,
      requestsPerSecond: spanMs > 0 ? (requests * 1000) / spanMs : null,
      p50Ms: percentile(sorted, 0.5),
      p95Ms: percentile(sorted, 0.95),
      p99Ms: percentile(sorted, 0.99),
      averageMs: samples === 0 ? null : sumMs / samples,
      samples,
    };
  }
}

/** Nearest rank: the latency of an actual request; `null` for an empty list. */
export function percentile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
