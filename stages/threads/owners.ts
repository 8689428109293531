/**
 * Remembers which thread had the last job of an affinity, and so holds the state those jobs share.
 */

/** Limit on remembered affinities. */
const MAX_AFFINITIES = 1000;

export class Owners<Thread> {
  /** Least recently used first. */
  readonly #threads = new Map<string, Thread>();

  /** Returns the owner; undefined if there was none, it has ended, or it was evicted. */
  of(affinity: string | undefined): Thread | undefined {
    return affinity === undefined ? undefined : this.#threads.get(affinity);
  }

  /** Records that `thread` has a job of `affinity`. */
  note(thread: Thread, affinity: string | undefined): void {
    if (affinity === undefined) return;
    this.#threads.delete(affinity);
    this.#threads.set(affinity, thread);
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= MAX_AFFINITIES) return;
      this.#threads.delete(oldest);
    }
  }

  /** Drops a thread that has ended. */
  forget(thread: Thread): void {
    for (const [affinity, owner] of this.#threads)
      if (owner === thread) this.#threads.delete(affinity);
  }
}
