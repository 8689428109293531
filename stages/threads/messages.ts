/** What the two sides of a worker thread send each other. All of it can be copied between threads. */
import type { ErrorKind } from '../../engine/index.ts';

/** The types of one kind of thread. */
export interface Protocol {
  readonly job: unknown;
  readonly result: unknown;
  /** What is known of a job before its end. */
  readonly part: unknown;
  /** What the thread reports unasked. */
  readonly event: unknown;
  /** What every thread is sent when it starts, to get ready for what is expected. */
  readonly notice: unknown;
}

export type ToThread<P extends Protocol> =
  | { readonly id: number; readonly job: P['job'] }
  | { readonly notice: P['notice'] }
  /** The job with this id is no longer needed; one that was begun is done all the same. */
  | { readonly withdrawn: number }
  | { readonly close: true };

export type FromThread<P extends Protocol> =
  | { readonly id: number; readonly part: P['part'] }
  | { readonly id: number; readonly result: P['result'] }
  | { readonly id: number; readonly failure: JobFailure }
  | { readonly event: P['event'] }
  /**
   * False before work that belongs to a thread's start, such as loading code; true after it. The
   * start itself and each notice begin with an implied false. Ready is who has as many of both.
   */
  | { readonly ready: boolean };

/** An `SvcError` on its way between threads. */
export interface JobFailure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly code?: string;
  readonly cure?: string;
}
