/**
 * Tracks faults of compression threads. A single request sent unchanged is not a problem; several
 * in a row are, and then requests do not wait for a thread that is not ready.
 */
import type { Clock } from '../../../engine/index.ts';
import type { JobEnd } from '../../threads/job-end.ts';

/** Consecutive failed jobs that count as a problem. */
const PROBLEM_FAILURES = 3;
/** How long no job waits for a thread to start after recent jobs waited in vain. */
const NO_WAIT_MS = 30_000;

type Failure = Exclude<JobEnd<unknown>, { readonly done: unknown }>;

export class ThreadFaults {
  readonly #clock: Clock;
  #count = 0;
  #last: Failure | undefined;
  #noWaitUntilMs = 0;

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
    if (this.#isAlways && isStart(end))
      this.#noWaitUntilMs = this.#clock.monotonicMs() + NO_WAIT_MS;
  }

  /** True while waiting for a starting thread is not worthwhile. */
  get isResting(): boolean {
    return this.#isAlways && this.#clock.monotonicMs() < this.#noWaitUntilMs;
  }

  /** The problem in words, for `/health`; undefined while jobs succeed. */
  get problem(): string | undefined {
    if (!this.#isAlways || this.#last === undefined) return undefined;
    return `compression: the last ${this.#count} requests were sent unchanged: ${reasonFor(this.#last)}`;
  }

  get #isAlways(): boolean {
    return this.#count >= PROBLEM_FAILURES;
  }
}

/** Returns true if a job failed before its thread could work on it. */
export function isStart(failure: Failure): boolean {
  return failure.failed === 'starting' || (failure.failed === 'died' && failure.atStart);
}

function reasonFor(failure: Failure): string {
  if (failure.failed === 'threw') return `compressing them failed (${failure.error.message})`;
  if (failure.failed === 'starting')
    return 'no thread was ready within compression.max_time_ms; the machine may be too busy';
  if (failure.failed !== 'died')
    return 'they could not be compressed within compression.max_time_ms';
  const cause = failure.cause === undefined ? '' : ` (${failure.cause.message})`;
  return `the compression thread ${failure.atStart ? 'failed to start' : 'crashed'}${cause}`;
}
