/**
 * Jobs that no thread has yet, and which thread gets which: the one that had the last job of the
 * same affinity first, another where that one takes long, a new one where all do.
 */
import { Owners } from './owners.ts';

interface Job {
  readonly id: number;
  readonly affinity: string | undefined;
  /** True when it has waited for so long that it may have a thread of its own. */
  readonly isOverdue: boolean;
}

interface Thread {
  /** The jobs that it has. */
  readonly tasks: { readonly size: number };
  /** True when what it works on takes so long that others may overtake it. */
  readonly isHeld: boolean;
}

/** A job and the thread for it; without one, a new thread is. */
export interface Turn<J extends Job, T extends Thread> {
  readonly job: J;
  readonly thread: T | undefined;
}

export class JobQueue<J extends Job, T extends Thread> {
  readonly #jobsAtOnce: number;
  /** Oldest first. */
  #jobs: J[] = [];
  readonly #owners = new Owners<T>();

  /** Of threads that have `jobsAtOnce` jobs at a time. */
  constructor(jobsAtOnce: number) {
    this.#jobsAtOnce = jobsAtOnce;
  }

  get size(): number {
    return this.#jobs.length;
  }

  push(job: J): void {
    this.#jobs.push(job);
  }

  /** Puts jobs that were begun before all others. */
  putBack(jobs: readonly J[]): void {
    this.#jobs.unshift(...jobs);
  }

  remove(id: number): void {
    this.#jobs = this.#jobs.filter((job) => job.id !== id);
  }

  /** Takes out all jobs. */
  clear(): readonly J[] {
    return this.#jobs.splice(0);
  }

  /** The first of `threads` that has room for another job. */
  free(threads: readonly T[]): T | undefined {
    return threads.find((thread) => this.#hasRoom(thread));
  }

  /** Takes out the oldest job that one of `threads`, or a new one if there may be, can begin now. */
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

  /** Notes that `thread` has `job`. */
  given({ affinity }: J, thread: T): void {
    this.#owners.note(thread, affinity);
  }

  /** Notes that `thread` is gone. */
  forget(thread: T): void {
    this.#owners.forget(thread);
  }

  /** A thread without what the owner has at hand would take longer than most jobs that the owner is at. */
  #waitsForOwner({ affinity, isOverdue }: J): boolean {
    const owner = this.#owners.of(affinity);
    return !isOverdue && owner !== undefined && !this.#hasRoom(owner) && !owner.isHeld;
  }

  #hasRoom({ tasks }: T): boolean {
    return tasks.size < this.#jobsAtOnce;
  }
}
