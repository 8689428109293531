/**
 * The running requests, for counting and aborting them. Slots are reused: a `Set` leaves a table
 * behind every few requests, each of which keeps the next table, and the runs in it, alive until a
 * full garbage collection.
 */
import type { Canceller } from '../../engine/index.ts';

export class Running {
  readonly #slots: (Canceller | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Adds a run and returns its slot, to be passed to `remove` once when it has ended. */
  add(canceller: Canceller): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = canceller;
    return slot;
  }

  remove(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Aborts all runs; each is removed as it ends. */
  abortAll(reason: unknown): void {
    for (const canceller of this.#slots) canceller?.abort(reason);
  }
}
