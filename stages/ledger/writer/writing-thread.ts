/**
 * Common code of the threads that write a ledger. Work is done in order of arrival; work that the
 * disk or the server refuses is kept and retried, so that a full disk, a locked file or an
 * unavailable server delays rows but loses none that were accepted.
 */
import type { JobPort, JobServer } from '../../threads/serve.ts';
import { CELLS } from '../tables.ts';
import type { Cell } from '../tables.ts';
import { LedgerRefused } from './problem.ts';
import type { WriterEvent, WriterProtocol } from './writer-messages.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

type Stored = WriterProtocol['result'];

const STORED: Stored = { rejected: 0, reason: undefined, deleted: 0 };

/** Synchronous for a file, asynchronous for a server. */
export type Soon<T> = T | PromiseLike<T>;

/**
 * A ledger opened for writing. Its calls may throw or reject with an error of the disk or the
 * server.
 */
export interface LedgerStore {
  /**
   * Stores a flat batch, whole or not at all; existing rows are left alone, so a batch may be sent
   * twice.
   */
  insert(cells: readonly Cell[]): Soon<void>;
  /** Deletes the oldest rows that began before `beforeMs`, at most `max`; returns how many. */
  prune(beforeMs: number, max: number): Soon<number>;
  /**
   * Returns true for an error of `insert` that only means that a row cannot be stored because of
   * its content.
   */
  isContentFault(error: unknown): boolean;
  close(): void;
}

/** Where a thread writes: opens the store, again after a failure, and interprets its errors. */
export interface WritingPlace {
  /** Returns the open store. Throws or rejects with `LedgerRefused` if nothing may be written. */
  store(): Soon<LedgerStore>;
  /**
   * Drops what `error` has broken, after this many consecutive failures, and returns what to
   * report.
   */
  onFailure(error: unknown, failures: number): WriterEvent | undefined;
  /** Returns true for a brief obstacle, so that even the last attempt is repeated. */
  isBrief(error: unknown): boolean;
  close(): void;
}

interface Task {
  readonly job: WriterProtocol['job'];
  readonly resolve: (stored: Stored) => void;
}

export class WritingThread implements JobServer<WriterProtocol> {
  readonly #port: JobPort<WriterProtocol>;
  readonly #place: WritingPlace;
  readonly #queue: Task[] = [];
  #failures = 0;
  #isWorking = false;
  /** True while a timer will resume the queue. */
  #isPaused = false;
  /** True once the last batch has come: everything is then tried once more, and not again. */
  #isLastTry = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Opens the store; the place calls `goOn` when it has lost the store, so that this is noticed
   * before the next row.
   */
  constructor(port: JobPort<WriterProtocol>, place: (goOn: () => void) => WritingPlace) {
    this.#port = port;
    this.#place = place(() => void this.#work());
    void this.#work();
  }

  /** Resolves when the store has done the job. */
  run(job: WriterProtocol['job']): Promise<Stored> {
    return new Promise((resolve) => {
      this.#queue.push({ job, resolve });
      void this.#work();
    });
  }

  close(): void {
    this.#isLastTry = true;
    void this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    if (this.#isWorking || this.#hasEnded || (this.#isPaused && !this.#isLastTry)) return;
    this.#isWorking = true;
    try {
      await this.#place.store();
      while (this.#queue[0] !== undefined) {
        const { job, resolve } = this.#queue[0];
        resolve(await perform(await this.#place.store(), job));
        this.#queue.shift();
        this.#failures = 0;
      }
      this.#isWorking = false;
      if (this.#isLastTry) this.#end();
    } catch (error) {
      this.#isWorking = false;
      this.#onFailure(error);
    }
  }

  #onFailure(error: unknown): void {
    if (error instanceof LedgerRefused) {
      this.#port.emit({ type: 'refused', message: error.message, cure: error.cure });
      this.#end();
      return;
    }
    this.#failures += 1;
    const event = this.#place.onFailure(error, this.#failures);
    if (event !== undefined) this.#port.emit(event);
    if (this.#isLastTry && !this.#place.isBrief(error)) this.#end();
    else this.#pauseMs(Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS));
  }

  #end(): void {
    this.#hasEnded = true;
    this.#place.close();
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#port.end();
  }

  #pauseMs(delayMs: number): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isPaused = false;
      void this.#work();
    }, delayMs);
  }
}

async function perform(store: LedgerStore, job: WriterProtocol['job']): Promise<Stored> {
  if (!('pruneBeforeMs' in job)) return insert(store, job);
  const deleted = await store.prune(job.pruneBeforeMs, job.max);
  return { ...STORED, deleted };
}

async function insert(store: LedgerStore, cells: readonly Cell[]): Promise<Stored> {
  try {
    await store.insert(cells);
    return STORED;
  } catch (error) {
    if (!store.isContentFault(error)) throw error;
  }
  return insertSingly(store, cells);
}

/**
 * One row that the schema refuses must not take the other rows of its batch with it, nor block the
 * queue for ever.
 */
async function insertSingly(store: LedgerStore, cells: readonly Cell[]): Promise<Stored> {
  let rejected = 0;
  let reason: string | undefined;
  for (let at = 0; at < cells.length; at += CELLS) {
    try {
      await store.insert(cells.slice(at, at + CELLS));
    } catch (error) {
      if (!store.isContentFault(error)) throw error;
      rejected += 1;
      reason = (error as Error).message;
    }
  }
  return { ...STORED, rejected, reason };
}
