/**
 * What keeps compressing threads from their work. One request that is sent as it came is no
 * trouble; several in a row are, and then requests do not wait for a thread that is not ready.
 */
import type { Clock } from '../../../engine/index.ts';
import type { JobEnd } from '../../threads/job-end.ts';

/** So many jobs in a row must have failed. */
const IN_A_ROW = 3;
/** So long no job waits for a start when the last ones did so in vain. */
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

  /** Notes how a job ended. What its client ended says nothing of the thread. */
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

  /** True while it is not worth to wait for a thread that is starting. */
  get isResting(): boolean {
    return this.#isAlways && this.#clock.monotonicMs() < this.#restUntilMs;
  }

  /** In words for `/health`; undefined while jobs are done. */
  get trouble(): string | undefined {
    if (!this.#isAlways || this.#last === undefined) return undefined;
    return `compression: the last ${this.#count} requests were sent as they came: ${because(this.#last)}`;
  }

  get #isAlways(): boolean {
    return this.#count >= IN_A_ROW;
  }
}

/** True where a job failed before its thread could work on it. */
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
