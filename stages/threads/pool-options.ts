/** Options of a pool: the kind and number of its threads, and when they start and end. */
import type { ResourceLimits } from 'node:worker_threads';
import type { Clock } from '../../engine/index.ts';
import type { Protocol } from './messages.ts';

export interface PoolOptions<P extends Protocol> {
  /** The compiled module that a thread runs; it calls `serveJobs`. */
  readonly entry: URL;
  readonly name: string;
  /** Passed to each thread at its start. */
  readonly data: unknown;
  readonly clock?: Clock;
  readonly limits?: ResourceLimits;
  /** Maximum number of threads. Default: 1. */
  readonly size?: number;
  /** Jobs that a thread has at a time; the others wait in the pool. Default: 1. */
  readonly jobsAtOnce?: number;
  /**
   * Another thread is started only when a job has waited this long, or every thread has been at its
   * job this long: if nearly all jobs are shorter, another thread's memory is seldom needed. Until
   * then a job also waits for the owner of its affinity. Default: 0.
   */
  readonly overtakeAfterMs?: number;
  /**
   * A thread other than the oldest ends once the older ones would have sufficed for this long.
   * Default: never.
   */
  readonly idleMs?: number;
  /** A thread that is not ready after this long is ended with its jobs. Default: never. */
  readonly startWithinMs?: number;
  /** False if jobs must not keep the process alive. Default: true. */
  readonly keepsAlive?: boolean;
  /** True if a job may run twice: the jobs of a thread that died then go to the next one. */
  readonly isRepeatable?: boolean;
  /**
   * Delay before the thread is restarted after its `times`th death in a row, with or without work.
   */
  readonly restartAfterMs?: (times: number) => number;
  /** Called with reports of the thread with this number that belong to no job. */
  onEvent?(event: P['event'], thread: number): void;
  /**
   * Called when the thread with this number has ended or died; `cause` is the error that killed it.
   */
  onGone?(thread: number, cause: Error | undefined): void;
}

/** Current load of a pool. */
export interface PoolLoad {
  /** Maximum number of threads. */
  readonly maxThreads: number;
  readonly threads: number;
  readonly threadsAtWork: number;
  /** Jobs not yet assigned to a thread. */
  readonly jobsWaiting: number;
}
