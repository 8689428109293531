/**
 * The running session: sums, the newest requests and latencies since the proxy started, kept in
 * memory so that a status page never waits for a file. Everything that a client can name is
 * bounded.
 */
import type { RunningTotals, Totals } from './figures.ts';
import { addToTotals, emptyTotals } from './figures.ts';
import { percentile } from './metrics.ts';
import { UNKNOWN } from './row.ts';
import type { LedgerRow } from './row.ts';
import { createToolSums } from './tools/tool-totals.ts';
import type { ToolTotals } from './tools/tool-totals.ts';

/** Percentiles of the newest latencies, in milliseconds; `null` before the first request. */
export interface LatencyFigures {
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Number of requests the figures are based on. */
  readonly samples: number;
}

/** A live view: every call reads the current state, and the returned maps keep changing. */
export type SessionWindow = ReturnType<typeof createSessionWindow>;

/** Rows kept for `/recent` (spec §2.6). */
const RECENT_ROWS = 50;
/** Latencies kept for the percentiles. */
const LATENCY_SAMPLES = 1024;
/** Names with sums of their own; a client can invent any number. */
const MAX_NAMES = 500;
/** Keys and projects with sums of their own: each is a series of its own in `/metrics`. */
const MAX_CALLERS = 100;
/** The same for tools, and for sets of definitions. */
const MAX_TOOLS = 200;
const MAX_TOOL_SETS = 100;
const OTHER = '(other)';

/** Starts a session at `startedMs` (wall time). */
export function createSessionWindow(startedMs: number) {
  const totals = emptyTotals();
  const models = new Map<string, RunningTotals>();
  const providers = new Map<string, RunningTotals>();
  const keys = new Map<string, RunningTotals>();
  const projects = new Map<string, RunningTotals>();
  const tools = createToolSums(MAX_TOOLS, MAX_TOOL_SETS);
  const recent = new RecentRows(RECENT_ROWS);
  // In a plain array the numbers would be objects, copied by the garbage collector.
  const latenciesMs = new Float64Array(LATENCY_SAMPLES);
  let measured = 0;
  return {
    /** Wall time at which the session began, in milliseconds since the epoch. */
    startedMs,
    add(row: LedgerRow): void {
      addToTotals(totals, row);
      addToTotals(groupOf(models, row.model), row);
      addToTotals(groupOf(providers, row.provider), row);
      if (row.keyLabel !== null) addToTotals(groupOf(keys, row.keyLabel, MAX_CALLERS), row);
      if (row.project !== null) addToTotals(groupOf(projects, row.project, MAX_CALLERS), row);
      tools.add(row);
      recent.add(row);
      if (row.latencyMs === null) return;
      latenciesMs[measured % LATENCY_SAMPLES] = row.latencyMs;
      measured += 1;
    },
    totals: (): Totals => ({ ...totals }),
    /**
     * By model; a request without a known model is under `unknown`, those past the limit under
     * `(other)`.
     */
    byModel: (): ReadonlyMap<string, Totals> => models,
    byProvider: (): ReadonlyMap<string, Totals> => providers,
    /** By key label, for requests that have one; those past the limit under `(other)`. */
    byKey: (): ReadonlyMap<string, Totals> => keys,
    /** By project, for requests with a known one; those past the limit under `(other)`. */
    byProject: (): ReadonlyMap<string, Totals> => projects,
    /** By tool; those past the limit under `(other)`. */
    byTool: (): ReadonlyMap<string, ToolTotals> => tools.byTool(),
    /** Returns the newest rows, newest first, at most `limit` (and 50). */
    recent: (limit: number = RECENT_ROWS): readonly LedgerRow[] =>
      recent.newestFirst().slice(0, limit),
    last: (): LedgerRow | undefined => recent.newest(),
    latency: (): LatencyFigures => latencyFigures(latenciesMs.subarray(0, measured)),
  };
}

function groupOf(
  groups: Map<string, RunningTotals>,
  name: string | null,
  max = MAX_NAMES,
): RunningTotals {
  const groupName = name ?? UNKNOWN;
  const key = groups.has(groupName) || groups.size < max ? groupName : OTHER;
  let totals = groups.get(key);
  if (totals === undefined) {
    totals = emptyTotals();
    groups.set(key, totals);
  }
  return totals;
}

/** Nearest-rank percentiles: each is the latency of an actual request. */
function latencyFigures(samples: Float64Array): LatencyFigures {
  const sorted = samples.toSorted();
  return {
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    samples: sorted.length,
  };
}

/** The newest `size` rows; adding is O(1) and allocates nothing once it is full. */
class RecentRows {
  readonly #size: number;
  readonly #rows: LedgerRow[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(row: LedgerRow): void {
    this.#rows[this.#next] = row;
    this.#next = (this.#next + 1) % this.#size;
  }

  newest(): LedgerRow | undefined {
    return this.#rows.at(this.#next - 1);
  }

  newestFirst(): LedgerRow[] {
    return [...this.#rows.slice(this.#next), ...this.#rows.slice(0, this.#next)].toReversed();
  }
}
