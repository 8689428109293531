/**
 * Tracks faults of compression threads. A single request sent unchanged is not a problem; several
 * in a row are, and then requests do not wait for a thread that is not ready.
 */
import type { Clock } from '../../../engine/index.ts';
import type { JobEnd } from '../../threads/job-end.ts';

/** Consecutive failed jobs that count as a problem. */
const IN_A_ROW = 3;
/** How long no job waits for a thread to start after the last waits were in vain. */
const REST_MS = 30_000;

type Failure = Exclude<JobEnd<unknown>, { readonly done: unknown }>;

export class ThreadFaults {
  readonly #clock: Clock;
  #count = 0;
  #last: Failure | undefined;
  #restUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records how a job ended. A job cancelled by its client says nothing about the thread. */
  note(end: JobEnd<unknown>): void {
    if (!('failed' in end)) {
      this.#count = 0;
      return;
    }
    if (end.failed === 'cancelled') return;
    this.#count += 1;
    this.#last = end;
    if (this.#isAlways && isStart(end)) this.#restUntilMs = this.#clock.monotonicMs() + REST_MS;
  }

  /** True while waiting for a starting thread is not worthwhile. */
  get isResting(): boolean {
    return this.#isAlways && this.#clock.monotonicMs() < this.#restUntilMs;
  }

  /** The problem in words, for `/health`; undefined while jobs succeed. */
  get trouble(): string | undefined {
    if (!this.#isAlways || this.#last === undefined) return undefined;
    return `compression: the last ${this.#count} requests were sent as they came: ${because(this.#last)}`;
  }

  get #isAlways(): boolean {
    return this.#count >= IN_A_ROW;
  }
}

/** Returns true if a job failed before its thread could work on it. */
export function isStart(failure: Failure): boolean {
  return failure.failed === 'starting' || (failure.failed === 'died' && failure.atStart);
}

function because(failure: Failure): string {
  if (failure.failed === 'threw') return `compressing them failed (${failure.error.message})`;
  if (failure.failed === 'starting')
    return 'no thread was ready within compression.max_time_ms; the machine may be too busy';
  if (failure.failed !== 'died')
    return 'they could not be compressed within compression.max_time_ms';
  const cause = failure.cause === undefined ? '' : ` (${failure.cause.message})`;
  return `the compressing thread ends ${failure.atStart ? 'at its start' : 'at its work'}${cause}`;
}
