/**
 * The runs that are under way, so that they can be counted and stopped. Places are used
 * again: a `Set` leaves a table behind every few requests, each of which keeps the next
 * one, and the runs in it, alive until the whole heap is collected.
 */
import type { Canceller } from '../../engine/index.ts';

export class Running {
  readonly #slots: (Canceller | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Returns the place to give to `remove`, once, when the run has ended. */
  add(canceller: Canceller): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = canceller;
    return slot;
  }

  remove(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Aborts all of them; they are removed as they end. */
  abortAll(reason: unknown): void {
    for (const canceller of this.#slots) canceller?.abort(reason);
  }
}
