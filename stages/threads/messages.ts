/**
 * The messages between the two sides of a worker thread. All of them can be copied between threads.
 */
import type { ErrorKind } from '../../engine/index.ts';

/** The message types of one kind of thread. */
export interface Protocol {
  readonly job: unknown;
  readonly result: unknown;
  /** An intermediate result of a job. */
  readonly part: unknown;
  /** A report that belongs to no job. */
  readonly event: unknown;
  /** Sent to every thread when it starts, to prepare it for expected jobs. */
  readonly notice: unknown;
}

export type ToThread<P extends Protocol> =
  | { readonly id: number; readonly job: P['job'] }
  | { readonly notice: P['notice'] }
  /** The job with this id is no longer needed; if already started, it is still completed. */
  | { readonly withdrawn: number }
  | { readonly close: true };

export type FromThread<P extends Protocol> =
  | { readonly id: number; readonly part: P['part'] }
  | { readonly id: number; readonly result: P['result'] }
  | { readonly id: number; readonly failure: JobFailure }
  | { readonly event: P['event'] }
  /**
   * False before work that belongs to a thread's start, such as loading code; true after it. The
   * start itself and each notice begin with an implied false. A thread is ready when both counts
   * are equal.
   */
  | { readonly ready: boolean };

/** An `SvcError` in a form that can be sent between threads. */
export interface JobFailure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly code?: string;
  readonly cure?: string;
}
