/**
 * The newest traces, in memory. What a run left behind becomes a trace only when
 * somebody looks. Frames are not kept: a body can be megabytes.
 */
import { keptText } from '../../engine/index.ts';
import type { KeptSpans, NoteValue, Span } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import { roundedMs } from './figures.ts';
import { KeptRun } from './kept-run.ts';
import { rowBreakpointsJson } from './lanes.ts';
import { missJson } from './miss-json.ts';
import { rowSavingsJson } from './request-json.ts';
import type { LedgerRow } from './row.ts';
import type { FinishedRun, TraceMiss, TraceSavings } from './kept-run.ts';

/** What a trace is made of. */
export type TracedRun = Omit<FinishedRun, 'spans'> & {
  readonly spans: Pick<KeptSpans, 'list'>;
  readonly savings?: TraceSavings | null;
  readonly usageCorrected?: boolean;
  readonly droppedThoughts?: string | null;
  readonly cacheMiss?: TraceMiss | null;
  readonly unpriced?: readonly string[] | null;
  readonly capture?: string | null;
};

/** One stage's part of a trace. Times are milliseconds; its notes stand beside them (spec §2.7). */
export interface TraceStage {
  readonly [note: string]: NoteValue;
  /** The name that the specification gives to the stage, or else the node's. */
  readonly name: string;
  readonly node: string;
  /** Time inside the stage. */
  readonly duration_ms: number;
  /** Since the start of the run: when the first frame came in, when the first and the last went out. */
  readonly first_in_ms: number | null;
  readonly first_out_ms: number | null;
  readonly last_out_ms: number | null;
  readonly frames: number;
}

export type Traces = ReturnType<typeof createTraces>;

/** What is known of a run only once its answer's figures are. */
export interface FoundLater {
  readonly outcome: LedgerRow['outcome'];
  readonly savings?: TraceSavings | undefined;
  readonly usageCorrected?: boolean | undefined;
  /** As in `2 thoughts dropped: prefix`. */
  readonly droppedThoughts?: string | undefined;
  readonly cacheMiss?: TraceMiss | undefined;
  /** What of it has no price. */
  readonly unpriced?: readonly string[] | undefined;
}

/** Keeps the newest `size` traces (default 200); `onSpans` sees the times of each run that comes. */
export function createTraces(size = 200, onSpans?: (spans: KeptSpans) => void) {
  // A ring. The tables that a `Map` leaves behind as it grows keep each other, and what is in them, alive.
  const ring: KeptRun[] = [];
  let added = 0;
  /** Mostly one of the newest is asked for. */
  const find = (id: string): KeptRun | undefined => {
    for (let age = 1; age <= ring.length; age += 1) {
      const run = ring[(added - age) % size]!;
      if (run.id === id) return run;
    }
    return undefined;
  };
  const newestFirst = (): TracedRun[] =>
    Array.from({ length: ring.length }, (_, age) => ring[(added - 1 - age) % size]!);
  /** The time in each stage of the runs that are kept, in the order in which they were first passed. */
  const stageTimes = () => {
    const stages = new Map<string, { runs: number; busyMs: number }>();
    for (const { spans } of ring)
      spans.visitTimes((_name, busyMs, node) => {
        const sums = stages.get(node) ?? { runs: 0, busyMs: 0 };
        stages.set(node, sums);
        sums.runs += 1;
        sums.busyMs += busyMs;
      });
    return {
      runs: ring.length,
      /** When each began, in milliseconds since the epoch. */
      startsMs: ring.map(({ startedMs }) => startedMs),
      stages: [...stages].map(([node, sums]) => ({ node, ...sums })),
    };
  };
  return {
    stageTimes,
    add(run: FinishedRun): void {
      const kept = (ring[added % size] ??= new KeptRun());
      kept.take(run);
      added += 1;
      onSpans?.(kept.spans);
    },
    /** Sets what was found out of a run that is still kept. */
    correct(id: string, found: FoundLater): void {
      const run = find(id);
      if (run === undefined) return;
      const { outcome, savings, usageCorrected, droppedThoughts, cacheMiss, unpriced } = found;
      run.outcome = outcome;
      run.savings = savings ?? null;
      run.usageCorrected = usageCorrected ?? false;
      run.droppedThoughts = droppedThoughts ?? null;
      run.cacheMiss = cacheMiss ?? null;
      run.unpriced = unpriced ?? null;
    },
    /** Sets what became of the recording of a run that is still kept. */
    captured(id: string, what: string): void {
      const run = find(id);
      if (run !== undefined) run.capture = keptText(what);
    },
    get: (id: string): Trace | undefined => renderIfAny(find(id)),
    last: (): Trace | undefined => renderIfAny(ring[(added - 1) % size]),
    /** The newest traces, newest first. */
    list: (limit: number = size): readonly Trace[] => newestFirst().slice(0, limit).map(toTrace),
  };
}

export type Trace = ReturnType<typeof toTrace>;

/** The trace of a run, in the specification's spelling (§2.7). */
export function toTrace(run: TracedRun) {
  return {
    request_id: run.id,
    /** ISO 8601, UTC. */
    timestamp: new Date(run.startedMs).toISOString(),
    endpoint: run.endpoint,
    model: run.model,
    provider: run.provider,
    status: run.status,
    outcome: run.outcome,
    /** Why the run failed; null where it did not, and where the provider's own error was passed on. */
    error: run.error,
    duration_ms: roundedMs(run.durationMs),
    /** As the ledger has it; null where nothing was compressed, injected or marked, or nothing was measured. */
    savings: run.savings
      ? { ...rowSavingsJson(run.savings), cache_breakpoints: rowBreakpointsJson(run.savings) }
      : null,
    /** Present where the provider sent token counts that are none, such as fractions; the ledger has them corrected. */
    ...(run.usageCorrected && { usage_corrected: true as const }),
    /** Present where the provider says that it has not shown thoughts of the request to the model. */
    ...(run.droppedThoughts && { dropped_thoughts: run.droppedThoughts }),
    /** Present where less was read from the provider's cache than the turn before had left in it: why. */
    ...(run.cacheMiss && { cache_miss: traceMissJson(run.cacheMiss) }),
    /** Present where it has no cost: what has no price. */
    ...(run.unpriced && { unpriced: run.unpriced }),
    /** What became of its capture: `kept`, or `dropped: …`. Present where the request was to be captured. */
    ...(run.capture && { capture: run.capture }),
    /** Only stages that saw a frame or failed, in graph order; the one that failed has an `error`. */
    stages: run.spans
      .list()
      .filter((span) => span.frames > 0 || 'error' in span.notes)
      .map((span) => toStage(span, run.error)),
    attempts: run.attempts.map(toAttempt),
  };
}

function traceMissJson(miss: TraceMiss) {
  const { cause, detail, missedTokens, costNanoUsd, comparedWith, ourCause } = miss;
  return {
    ...missJson(cause, detail, missedTokens, costNanoUsd),
    /** The request that was compared with; null where there was none before. */
    compared_with: comparedWith,
    /** Present where the provider names the cause, and the comparison gives another one. */
    ...(ourCause && { compared_cause: ourCause }),
  };
}

function renderIfAny(run: TracedRun | undefined): Trace | undefined {
  return run === undefined ? undefined : toTrace(run);
}

function toStage(span: Span, error: string | null): TraceStage {
  return {
    // First, so that a note cannot take the place of a measurement.
    ...span.notes,
    // The run's own words for it, which hold no keys.
    ...('error' in span.notes && error !== null && { error }),
    name: span.traceAs ?? span.node,
    node: span.node,
    duration_ms: roundedMs(span.busyMs),
    first_in_ms: orNull(span.firstInMs),
    first_out_ms: orNull(span.firstOutMs),
    last_out_ms: orNull(span.lastOutMs),
    frames: span.frames,
  };
}

export type TraceAttempt = ReturnType<typeof toAttempt>;

/** One try at a provider; times are milliseconds since the start of the run. */
function toAttempt(attempt: Attempt) {
  return {
    provider: attempt.provider,
    model: attempt.model ?? null,
    /** Where the configured key that was sent comes from, never the key; null for the client's own, or none. */
    key: attempt.key ?? null,
    started_ms: roundedMs(attempt.startedMs),
    head_ms: orNull(attempt.headMs),
    status: attempt.status ?? null,
    failure: attempt.failure ?? null,
    /** Present where the provider answered with an error: its message. */
    ...(attempt.words !== undefined && { words: attempt.words }),
  };
}

function orNull(ms: number | undefined): number | null {
  return ms === undefined ? null : roundedMs(ms);
}
