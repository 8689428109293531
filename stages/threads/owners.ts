/** Which thread had the last job of an affinity, and so has at hand what those jobs share. */

/** Of so many affinities at most it is known. */
const MOST = 1000;

export class Owners<Thread> {
  /** Longest unheard of first. */
  readonly #threads = new Map<string, Thread>();

  /** Undefined where nobody had one, or it is gone or long ago. */
  of(affinity: string | undefined): Thread | undefined {
    return affinity === undefined ? undefined : this.#threads.get(affinity);
  }

  /** Notes that `thread` has a job of `affinity`. */
  note(thread: Thread, affinity: string | undefined): void {
    if (affinity === undefined) return;
    this.#threads.delete(affinity);
    this.#threads.set(affinity, thread);
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= MOST) return;
      this.#threads.delete(oldest);
    }
  }

  /** Notes that `thread` is gone. */
  forget(thread: Thread): void {
    for (const [affinity, owner] of this.#threads)
      if (owner === thread) this.#threads.delete(affinity);
  }
}
