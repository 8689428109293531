/**
 * The session as it runs: sums, the newest requests and latencies since the
 * proxy started, kept in memory so that a status page never waits for a file.
 * Bounded in everything that a client can name.
 */
import type { RunningTotals, Totals } from './figures.ts';
import { addToTotals, emptyTotals } from './figures.ts';
import type { LedgerRow } from './row.ts';

/** Percentiles of the newest latencies, in milliseconds; `null` before the first request. */
export interface LatencyFigures {
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** How many requests the figures rest on. */
  readonly samples: number;
}

/** A live view: every call reads the present state; the maps go on changing. */
export interface SessionWindow {
  add(row: LedgerRow): void;
  totals(): Totals;
  /** By model; a request without a known model is under `unknown`, those past the bound under `(other)`. */
  byModel(): ReadonlyMap<string, Totals>;
  byProvider(): ReadonlyMap<string, Totals>;
  /** The newest rows, newest first, at most `limit` (and 50). */
  recent(limit?: number): readonly LedgerRow[];
  last(): LedgerRow | undefined;
  latency(): LatencyFigures;
  /** Wall time at which the session began, in milliseconds since the epoch. */
  readonly startedMs: number;
}

/** Rows kept for `/recent` (spec §2.6). */
export const RECENT_ROWS = 50;
/** Latencies kept for the percentiles. */
export const LATENCY_SAMPLES = 1024;
/** Names told apart; a client can invent as many as it likes. */
const MAX_NAMES = 500;
const OTHER = '(other)';
const UNKNOWN = 'unknown';

/** Starts a session at `startedMs` (wall time). */
export function createSessionWindow(startedMs: number): SessionWindow {
  const totals = emptyTotals();
  const models = new Map<string, RunningTotals>();
  const providers = new Map<string, RunningTotals>();
  const recent = new Ring<LedgerRow>(RECENT_ROWS);
  const latencies = new Ring<number>(LATENCY_SAMPLES);
  return {
    startedMs,
    add(row) {
      addToTotals(totals, row);
      addToTotals(groupOf(models, row.model), row);
      addToTotals(groupOf(providers, row.provider), row);
      recent.add(row);
      if (row.latencyMs !== null) latencies.add(row.latencyMs);
    },
    totals: () => ({ ...totals }),
    byModel: () => models,
    byProvider: () => providers,
    recent: (limit = RECENT_ROWS) => recent.newestFirst().slice(0, limit),
    last: () => recent.newest(),
    latency: () => latencyFigures(latencies.newestFirst()),
  };
}

function groupOf(groups: Map<string, RunningTotals>, name: string | null): RunningTotals {
  const wanted = name ?? UNKNOWN;
  const key = groups.has(wanted) || groups.size < MAX_NAMES ? wanted : OTHER;
  let totals = groups.get(key);
  if (totals === undefined) {
    totals = emptyTotals();
    groups.set(key, totals);
  }
  return totals;
}

/** Nearest-rank percentiles: each is a latency that some request really had. */
function latencyFigures(samples: readonly number[]): LatencyFigures {
  const sorted = Float64Array.from(samples).toSorted();
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
  return {
    p50Ms: rank(0.5),
    p99Ms: rank(0.99),
    samples: sorted.length,
  };
}

/** The newest `size` items; adding is O(1) and allocates nothing once it is full. */
class Ring<T> {
  readonly #size: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#size;
  }

  newest(): T | undefined {
    return this.#items.at(this.#next - 1);
  }

  newestFirst(): T[] {
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)].toReversed();
  }
}
