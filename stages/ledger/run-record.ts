/**
 * The record of a finished run in memory, which a later run overwrites. Hundreds are kept for
 * viewing; as a new object each, the garbage collector would copy every one of them twice before it
 * counts as old.
 */
import { KeptSpans, truncateText } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import type { LedgerRow } from './row.ts';

/** Long enough for an error with its cure, which comes at the end. */
const MAX_ERROR_CHARS = 1024;

/** The record of a finished run. */
export interface FinishedRun {
  readonly id: string;
  /** Wall time of the first byte of the request, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly endpoint: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly status: number | null;
  readonly outcome: LedgerRow['outcome'];
  /**
   * The error sent to the client, if the run itself failed. The error object is not kept: its stack
   * keeps the run alive.
   */
  readonly error: string | null;
  readonly durationMs: number;
  /** Writes what its stages did over the spans of a discarded run. */
  readonly spans: (into: KeptSpans) => void;
  /**
   * Kept as they are unless the run succeeded: for a stopped run, the reasons of failed attempts
   * may be reported later.
   */
  readonly attempts: readonly Attempt[];
}

/** The part of the ledger row about a run's savings. */
export type TraceSavings = Pick<
  LedgerRow,
  | 'savedTokens'
  | 'addedTokens'
  | 'costSavedNanoUsd'
  | 'costAddedNanoUsd'
  | 'breakpoints'
  | 'costSavedByBreakpointsNanoUsd'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
>;

/** Why the provider's cache was missed, and the cost of the miss. */
export type TraceMiss = CacheMiss & { readonly costNanoUsd: number | null };

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class RunRecord implements Writable<Omit<FinishedRun, 'spans'>> {
  id = '';
  startedMs = 0;
  endpoint = '';
  model: string | null = null;
  provider: string | null = null;
  status: number | null = null;
  outcome: FinishedRun['outcome'] = 'ok';
  error: string | null = null;
  durationMs = 0;
  savings: TraceSavings | null = null;
  usageCorrected = false;
  droppedThoughts: string | null = null;
  cacheMiss: TraceMiss | null = null;
  unpriced: readonly string[] | null = null;
  capture: string | null = null;
  readonly spans = new KeptSpans();
  attempts: readonly Attempt[] = [];
  readonly #written: AttemptRecord[] = [];

  /** Replaces the content with `run`. */
  take(run: FinishedRun): void {
    this.id = run.id;
    this.startedMs = run.startedMs;
    // Usually the same text as before, which is already old for the garbage collector.
    if (this.endpoint !== run.endpoint) this.endpoint = truncateText(run.endpoint);
    if (this.model !== run.model) this.model = run.model && truncateText(run.model);
    if (this.provider !== run.provider) this.provider = run.provider;
    this.status = run.status;
    this.outcome = run.outcome;
    this.error = run.error && truncateText(run.error, MAX_ERROR_CHARS);
    this.durationMs = run.durationMs;
    this.savings = null;
    this.usageCorrected = false;
    this.droppedThoughts = null;
    this.cacheMiss = null;
    this.unpriced = null;
    this.capture = null;
    run.spans(this.spans);
    // An attempt that was still pending when the run was stopped reports its own end later.
    this.attempts = run.outcome === 'ok' ? this.#write(run.attempts) : run.attempts.slice();
  }

  #write(attempts: readonly Attempt[]): readonly Attempt[] {
    const written = this.#written;
    written.length = Math.min(written.length, attempts.length);
    for (let index = 0; index < attempts.length; index += 1) {
      (written[index] ??= new AttemptRecord()).take(attempts[index]!);
    }
    return written;
  }
}

class AttemptRecord implements Attempt {
  provider = '';
  model: string | undefined;
  key: string | undefined;
  status: number | undefined;
  failure: string | undefined;
  message: string | undefined;
  /** Start and head; a number field that may be missing is an object of its own. */
  readonly #timesMs = new Float64Array(2);

  get startedMs(): number {
    return this.#timesMs[0]!;
  }

  get headMs(): number | undefined {
    const ms = this.#timesMs[1]!;
    return Number.isNaN(ms) ? undefined : ms;
  }

  take(attempt: Attempt): void {
    if (this.provider !== attempt.provider) this.provider = attempt.provider;
    if (this.model !== attempt.model) this.model = attempt.model && truncateText(attempt.model);
    if (this.key !== attempt.key) this.key = attempt.key;
    this.status = attempt.status;
    this.failure = attempt.failure && truncateText(attempt.failure);
    this.message = attempt.message;
    this.#timesMs[0] = attempt.startedMs;
    this.#timesMs[1] = attempt.headMs ?? Number.NaN;
  }
}
