/**
 * The newest traces, in memory. A run's record becomes a trace only when it is viewed. Frames are
 * not kept: a body can be megabytes.
 */
import { truncateText } from '../../engine/index.ts';
import type { KeptSpans, NoteValue, Span } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import { roundedMs } from './figures.ts';
import { RunRecord } from './run-record.ts';
import { rowBreakpointsJson } from './lanes.ts';
import { missJson } from './miss-json.ts';
import { rowSavingsJson } from './request-json.ts';
import type { LedgerRow } from './row.ts';
import type { FinishedRun, TraceMiss, TraceSavings } from './run-record.ts';

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

/**
 * The nodes of the graph that the specification names differently in `/traces` (§2.7). No other
 * output has these names.
 */
const SPECIFIED_NAMES: ReadonlyMap<string, string> = new Map([
  ['compress', 'compaction'],
  ['inject', 'vault_inject'],
  ['forward', 'upstream_forward'],
]);

/**
 * One stage's part of a trace. Times are milliseconds; its notes are members beside them (spec
 * §2.7).
 */
export interface TraceStage {
  readonly [note: string]: NoteValue;
  /** As the specification names the stage: for programs. What a person reads shows `node`. */
  readonly name: string;
  /** Its name in the graph (`svc graph`). */
  readonly node: string;
  /** The node that it is inside of, whose time includes its own; null for most. */
  readonly within: string | null;
  /** Time inside the stage. */
  readonly duration_ms: number;
  /**
   * Since the start of the run: when the first frame came in, when the first and the last went out.
   */
  readonly first_in_ms: number | null;
  readonly first_out_ms: number | null;
  readonly last_out_ms: number | null;
  readonly frames: number;
}

export type Traces = ReturnType<typeof createTraces>;

/** Facts about a run that are only known once its answer's figures are. */
export interface LateFacts {
  readonly outcome: LedgerRow['outcome'];
  readonly savings?: TraceSavings | undefined;
  readonly usageCorrected?: boolean | undefined;
  /** For example `2 thoughts dropped: prefix`. */
  readonly droppedThoughts?: string | undefined;
  readonly cacheMiss?: TraceMiss | undefined;
  /** The parts without a price. */
  readonly unpriced?: readonly string[] | undefined;
}

/**
 * Creates the store of the newest `size` traces (default 200); `onSpans` is called with the times
 * of each new run.
 */
export function createTraces(size = 200, onSpans?: (spans: KeptSpans) => void) {
  // A ring. The tables that a growing `Map` leaves behind keep each other, and their content,
  // alive.
  const ring: RunRecord[] = [];
  let added = 0;
  /** Usually one of the newest is requested. */
  const find = (id: string): RunRecord | undefined => {
    for (let age = 1; age <= ring.length; age += 1) {
      const run = ring[(added - age) % size]!;
      if (run.id === id) return run;
    }
    return undefined;
  };
  const newestFirst = (): TracedRun[] =>
    Array.from({ length: ring.length }, (_, age) => ring[(added - 1 - age) % size]!);
  /**
   * Returns the time in each stage of the kept runs, in the order in which stages were first
   * passed.
   */
  const stageTimes = () => {
    const stages = new Map<string, { runs: number; busyMs: number; within: string | undefined }>();
    for (const { spans } of ring)
      spans.visitTimes((node, busyMs, within) => {
        const sums = stages.get(node) ?? { runs: 0, busyMs: 0, within };
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
      const record = (ring[added % size] ??= new RunRecord());
      record.take(run);
      added += 1;
      onSpans?.(record.spans);
    },
    /** Corrects a run that is still kept. */
    correct(id: string, facts: LateFacts): void {
      const run = find(id);
      if (run === undefined) return;
      const { outcome, savings, usageCorrected, droppedThoughts, cacheMiss, unpriced } = facts;
      run.outcome = outcome;
      run.savings = savings ?? null;
      run.usageCorrected = usageCorrected ?? false;
      run.droppedThoughts = droppedThoughts ?? null;
      run.cacheMiss = cacheMiss ?? null;
      run.unpriced = unpriced ?? null;
    },
    /** Sets the capture result of a run that is still kept. */
    captured(id: string, what: string): void {
      const run = find(id);
      if (run !== undefined) run.capture = truncateText(what);
    },
    get: (id: string): Trace | undefined => renderIfAny(find(id)),
    last: (): Trace | undefined => renderIfAny(ring[(added - 1) % size]),
    /** Returns the newest traces, newest first. */
    list: (limit: number = size): readonly Trace[] => newestFirst().slice(0, limit).map(toTrace),
  };
}

export type Trace = ReturnType<typeof toTrace>;

/** Returns the trace of a run, in the specification's format (§2.7). */
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
    /** Why the run failed; null if it did not, or if the provider's own error was passed on. */
    error: run.error,
    duration_ms: roundedMs(run.durationMs),
    /**
     * As in the ledger; null if nothing was compressed, injected or marked, or nothing was
     * measured.
     */
    savings: run.savings
      ? { ...rowSavingsJson(run.savings), cache_breakpoints: rowBreakpointsJson(run.savings) }
      : null,
    /**
     * Present if the provider sent invalid token counts, such as fractions; the ledger has them
     * corrected.
     */
    ...(run.usageCorrected && { usage_corrected: true as const }),
    /**
     * Present if the provider reports thinking blocks of the request that it has not shown to the
     * model.
     */
    ...(run.droppedThoughts && { dropped_thoughts: run.droppedThoughts }),
    /**
     * Present if less was read from the provider's cache than the previous turn left in it: the
     * reason.
     */
    ...(run.cacheMiss && { cache_miss: traceMissJson(run.cacheMiss) }),
    /** Present if it has no cost: the parts without a price. */
    ...(run.unpriced && { unpriced: run.unpriced }),
    /**
     * The result of its capture: `kept`, or `dropped: …`. Present if the request was to be
     * captured.
     */
    ...(run.capture && { capture: run.capture }),
    /** Only stages that saw a frame or failed, in graph order; a failed one has an `error`. */
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
    /** The request compared with; null if there was none before. */
    compared_with: comparedWith,
    /** Present if the provider names the cause, and the comparison gives a different one. */
    ...(ourCause && { compared_cause: ourCause }),
  };
}

function renderIfAny(run: TracedRun | undefined): Trace | undefined {
  return run === undefined ? undefined : toTrace(run);
}

function toStage(span: Span, error: string | null): TraceStage {
  return {
    // First, so that a note cannot override a measurement.
    ...span.notes,
    // The run's own message for it, which contains no keys.
    ...('error' in span.notes && error !== null && { error }),
    name: SPECIFIED_NAMES.get(span.node) ?? span.node,
    node: span.node,
    within: span.within ?? null,
    duration_ms: roundedMs(span.busyMs),
    first_in_ms: orNull(span.firstInMs),
    first_out_ms: orNull(span.firstOutMs),
    last_out_ms: orNull(span.lastOutMs),
    frames: span.frames,
  };
}

export type TraceAttempt = ReturnType<typeof toAttempt>;

/** Returns one attempt at a provider; times are milliseconds since the start of the run. */
function toAttempt(attempt: Attempt) {
  return {
    provider: attempt.provider,
    model: attempt.model ?? null,
    /**
     * Where the configured key that was sent comes from, never the key; null for the client's own,
     * or none.
     */
    key: attempt.key ?? null,
    started_ms: roundedMs(attempt.startedMs),
    head_ms: orNull(attempt.headMs),
    status: attempt.status ?? null,
    failure: attempt.failure ?? null,
    /** Present if the provider answered with an error: its message. */
    ...(attempt.message !== undefined && { words: attempt.message }),
  };
}

function orNull(ms: number | undefined): number | null {
  return ms === undefined ? null : roundedMs(ms);
}
