/** What kind of threads a pool has, how many, and when they start and end. */
import type { ResourceLimits } from 'node:worker_threads';
import type { Clock } from '../../engine/index.ts';
import type { Protocol } from './messages.ts';

export interface PoolOptions<P extends Protocol> {
  /** The compiled module that a thread runs; it calls `serveJobs`. */
  readonly entry: URL;
  readonly name: string;
  /** Given to each thread at its start. */
  readonly data: unknown;
  readonly clock?: Clock;
  readonly limits?: ResourceLimits;
  /** Threads at most. Default: 1. */
  readonly size?: number;
  /** Jobs that a thread has at a time; the others wait here. Default: 1. */
  readonly jobsAtOnce?: number;
  /**
   * Another thread is started only for a job that has waited for this long, or when each has
   * been at its job for this long: where nearly all jobs take less, it is memory that is seldom
   * needed. Until then a job also waits for the thread that had the last of its affinity. Default: 0.
   */
  readonly overtakeAfterMs?: number;
  /** A thread other than the oldest ends when the older ones could have done its jobs for this long. Default: never. */
  readonly idleMs?: number;
  /** A thread that is not ready after this long is ended with the jobs it has. Default: never. */
  readonly startWithinMs?: number;
  /** False where jobs do not keep the process alive. Default: true. */
  readonly keepsAlive?: boolean;
  /** True where a job may be done twice: what a thread had when it died goes to the next one. */
  readonly isRepeatable?: boolean;
  /** How long after its `times`th death in a row the thread is started again, work or none. */
  readonly restartAfterMs?: (times: number) => number;
  /** What the thread with this number reports unasked. */
  onEvent?(event: P['event'], thread: number): void;
  /** The thread with this number is gone, ended or dead; `cause` is what killed it. */
  onGone?(thread: number, cause: Error | undefined): void;
}

/** What a pool is at. */
export interface PoolLoad {
  /** Threads that there may be. */
  readonly most: number;
  readonly threads: number;
  readonly threadsAtWork: number;
  /** Jobs that no thread has yet. */
  readonly jobsWaiting: number;
}
