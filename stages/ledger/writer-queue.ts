/**
 * Rows between `record` and the file: gathered into batches, handed to the
 * thread a few at a time, kept until the thread says that they are stored.
 */
import type { LedgerRow } from './row.ts';
import type { Cell } from './tables.ts';
import { pushCells } from './tables.ts';

/** Rows in a batch at most. */
export const MAX_BATCH_ROWS = 50;
/** Batches handed out and not yet stored; the others wait here. */
const MAX_IN_FLIGHT = 8;

/** A batch with its number; the cells of all its rows in one flat array. */
export interface Batch {
  readonly seq: number;
  readonly cells: Cell[];
  rows: number;
}

export class RowQueue {
  readonly #maxRows: number;
  #seq = 0;
  #current: Batch = { seq: 0, cells: [], rows: 0 };
  #waiting: Batch[] = [];
  readonly #inFlight = new Map<number, Batch>();
  #rows = 0;

  /** A queue of at most `maxRows` rows, those in flight included. */
  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Rows accepted and not yet stored. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a row to the batch being gathered; returns how many it holds now, or 0 if the queue is full. */
  add(row: LedgerRow): number {
    if (this.#rows >= this.#maxRows) return 0;
    pushCells(this.#current.cells, row);
    this.#rows += 1;
    this.#current.rows += 1;
    return this.#current.rows;
  }

  /** Closes the batch being gathered, so that `next` can give it out. */
  cut(): void {
    if (this.#current.rows === 0) return;
    this.#waiting.push(this.#current);
    this.#seq += 1;
    this.#current = { seq: this.#seq, cells: [], rows: 0 };
  }

  /** The oldest batch not yet handed out, now in flight; undefined if there is none or `maxInFlight` are out. */
  next(maxInFlight = MAX_IN_FLIGHT): Batch | undefined {
    if (this.#inFlight.size >= maxInFlight) return undefined;
    const batch = this.#waiting.shift();
    if (batch !== undefined) this.#inFlight.set(batch.seq, batch);
    return batch;
  }

  /** The batch is stored: forgets it and returns how many rows it had. */
  settle(seq: number): number {
    const rows = this.#inFlight.get(seq)?.rows ?? 0;
    this.#inFlight.delete(seq);
    this.#rows -= rows;
    return rows;
  }

  /** The thread died: what it had is to be handed out again, first. Storing a row twice changes nothing. */
  takeBack(): void {
    this.#waiting = [...this.#inFlight.values(), ...this.#waiting];
    this.#inFlight.clear();
  }

  /** Forgets all rows and returns how many there were. */
  clear(): number {
    const rows = this.#rows;
    this.cut();
    this.#waiting = [];
    this.#inFlight.clear();
    this.#rows = 0;
    return rows;
  }
}
