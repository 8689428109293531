/**
 * A finished run in memory that a later one is written over. Hundreds are kept for whoever looks;
 * as a new object each, the garbage collector would copy every one of them twice before it is old.
 */
import { KeptSpans, keptText } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import type { LedgerRow } from './row.ts';

/** An error that names its cure: that stands at its end. */
const MOST_ERROR_CHARS = 1024;

/** What a finished run says of itself. */
export interface FinishedRun {
  readonly id: string;
  /** Wall time of the first byte of the request, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly endpoint: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly status: number | null;
  readonly outcome: LedgerRow['outcome'];
  /** The error sent to the client, where the run itself failed. The error is not kept: its stack holds on to the run. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Writes what its stages did over the spans of a run that is kept no more. */
  readonly spans: (into: KeptSpans) => void;
  /** Kept as they are unless all went well: of a run that was ended it may be reported later why they failed. */
  readonly attempts: readonly Attempt[];
}

/** What the ledger's row says of a run's saving. */
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

/** Why the provider's cache was missed, and what that cost. */
export type TraceMiss = CacheMiss & { readonly costNanoUsd: number | null };

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class KeptRun implements Writable<Omit<FinishedRun, 'spans'>> {
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
  readonly #written: KeptAttempt[] = [];

  /** Keeps `run` in place of what was kept. */
  take(run: FinishedRun): void {
    this.id = run.id;
    this.startedMs = run.startedMs;
    // Mostly the same words as before, and those are old already.
    if (this.endpoint !== run.endpoint) this.endpoint = keptText(run.endpoint);
    if (this.model !== run.model) this.model = run.model && keptText(run.model);
    if (this.provider !== run.provider) this.provider = run.provider;
    this.status = run.status;
    this.outcome = run.outcome;
    this.error = run.error && keptText(run.error, MOST_ERROR_CHARS);
    this.durationMs = run.durationMs;
    this.savings = null;
    this.usageCorrected = false;
    this.droppedThoughts = null;
    this.cacheMiss = null;
    this.unpriced = null;
    this.capture = null;
    run.spans(this.spans);
    // What a run was still waiting for when it was ended reports its own end later.
    this.attempts = run.outcome === 'ok' ? this.#write(run.attempts) : run.attempts.slice();
  }

  #write(attempts: readonly Attempt[]): readonly Attempt[] {
    const written = this.#written;
    written.length = Math.min(written.length, attempts.length);
    for (let index = 0; index < attempts.length; index += 1) {
      (written[index] ??= new KeptAttempt()).take(attempts[index]!);
    }
    return written;
  }
}

class KeptAttempt implements Attempt {
  provider = '';
  model: string | undefined;
  key: string | undefined;
  status: number | undefined;
  failure: string | undefined;
  words: string | undefined;
  /** Start and head; a number that a field may lack is an object of its own. */
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
    if (this.model !== attempt.model) this.model = attempt.model && keptText(attempt.model);
    if (this.key !== attempt.key) this.key = attempt.key;
    this.status = attempt.status;
    this.failure = attempt.failure && keptText(attempt.failure);
    this.words = attempt.words;
    this.#timesMs[0] = attempt.startedMs;
    this.#timesMs[1] = attempt.headMs ?? Number.NaN;
  }
}
