/**
 * Queues jobs and assigns them to threads: preferably to the thread that had the last job of the
 * same affinity, to another one if that is busy for long, and to a new one if all are.
 */
import { Owners } from './owners.ts';

interface Job {
  readonly id: number;
  readonly affinity: string | undefined;
  /** True when it has waited long enough to get a thread of its own. */
  readonly isOverdue: boolean;
}

interface Thread {
  /** The jobs assigned to it. */
  readonly tasks: { readonly size: number };
  /** True when its current job takes so long that others may overtake it. */
  readonly isHeld: boolean;
}

/** A job and its thread; undefined for a thread to be started. */
export interface Turn<J extends Job, T extends Thread> {
  readonly job: J;
  readonly thread: T | undefined;
}

export class JobQueue<J extends Job, T extends Thread> {
  readonly #jobsAtOnce: number;
  /** Oldest first. */
  #jobs: J[] = [];
  readonly #owners = new Owners<T>();

  /** `jobsAtOnce`: jobs that a thread has at a time. */
  constructor(jobsAtOnce: number) {
    this.#jobsAtOnce = jobsAtOnce;
  }

  get size(): number {
    return this.#jobs.length;
  }

  push(job: J): void {
    this.#jobs.push(job);
  }

  /** Puts jobs that had been started back at the front. */
  putBack(jobs: readonly J[]): void {
    this.#jobs.unshift(...jobs);
  }

  remove(id: number): void {
    this.#jobs = this.#jobs.filter((job) => job.id !== id);
  }

  /** Removes and returns all jobs. */
  clear(): readonly J[] {
    return this.#jobs.splice(0);
  }

  /** Returns the first of `threads` with room for another job. */
  free(threads: readonly T[]): T | undefined {
    return threads.find((thread) => this.#hasRoom(thread));
  }

  /**
   * Removes and returns the oldest job that one of `threads`, or a new one if allowed, can begin
   * now.
   */
  next(threads: readonly T[], mayStart: boolean): Turn<J, T> | undefined {
    const at = this.#jobs.findIndex((job) => !this.#waitsForOwner(job));
    const job = this.#jobs[at];
    if (job === undefined) return undefined;
    const owner = this.#owners.of(job.affinity);
    const isOwnerFree = owner !== undefined && this.#hasRoom(owner);
    const thread = isOwnerFree ? owner : this.free(threads);
    const isNewWorth = job.isOverdue || threads.every(({ isHeld }) => isHeld);
    if (thread === undefined && !(mayStart && isNewWorth)) return undefined;
    this.#jobs.splice(at, 1);
    return { job, thread };
  }

  /** Records that `thread` has the job. */
  noteAssigned({ affinity }: J, thread: T): void {
    this.#owners.note(thread, affinity);
  }

  /** Drops a thread that has ended. */
  forget(thread: T): void {
    this.#owners.forget(thread);
  }

  /**
   * Returns true if a job should wait for its owner: without the owner's state another thread would
   * usually take longer.
   */
  #waitsForOwner({ affinity, isOverdue }: J): boolean {
    const owner = this.#owners.of(affinity);
    return !isOverdue && owner !== undefined && !this.#hasRoom(owner) && !owner.isHeld;
  }

  #hasRoom({ tasks }: T): boolean {
    return tasks.size < this.#jobsAtOnce;
  }
}
