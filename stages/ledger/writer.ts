/**
 * The near side of the ledger's writer. `record` copies a row into a batch and
 * returns; a worker thread does all that touches the disk. The queue is bounded:
 * when the disk stays away, rows are dropped and counted, and requests go on.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../engine/index.ts';
import { SvcError } from '../../engine/index.ts';
import type { LedgerRow } from './row.ts';
import type { Migration } from './tables.ts';
import { migrations } from './tables.ts';
import type { FromWriter, ToWriter, WriterSetup } from './writer-messages.ts';
import { diskError, replacedError, Trouble } from './trouble.ts';
import { MAX_BATCH_ROWS, RowQueue } from './writer-queue.ts';

export interface LedgerWriterOptions {
  /** Absolute path of the SQLite file; its folder is made if it is not there. */
  readonly file: string;
  readonly clock: Clock;
  /**
   * Hears of each trouble once until it is over: a disk that refuses or a row lost
   * (`unavailable`, RESOURCE_002), a damaged file put aside (`internal`), a file that must
   * not be used (`config`).
   */
  readonly onTrouble: (error: SvcError) => void;
  /** Rows held in memory at most while the disk is behind. Default 10,000, some 10 MB. */
  readonly maxQueuedRows?: number;
  /** `full` makes a row survive a power cut too. Default `normal`: it survives the process. */
  readonly synchronous?: 'normal' | 'full';
  /** The schema's steps; only tests give their own, as they do for the thread's entry. */
  readonly migrations?: readonly Migration[];
  readonly threadUrl?: URL;
}

export interface LedgerWriterStats {
  /** Rows that are in the file. */
  readonly written: number;
  /** Rows on their way. */
  readonly queued: number;
  /** Rows that will never be in the file. */
  readonly dropped: number;
  /** What is wrong now; undefined while all is well. */
  readonly trouble: SvcError | undefined;
}

export interface LedgerWriter {
  /** Takes a row and returns at once; never throws, never waits. */
  record(row: LedgerRow): void;
  /** Resolves when the file is open, or cannot be for now; rejects (`config`) if it must not be used. */
  ready(): Promise<void>;
  /** Resolves when every row recorded so far is in the file, or when the disk turns out to refuse them. */
  flush(): Promise<void>;
  /** Deletes rows older than so many days; resolves with their number, 0 if the thread ends first. */
  prune(olderThanDays: number): Promise<number>;
  /** Flushes for at most two seconds, then ends the thread; rows that did not make it count as dropped. */
  close(): Promise<void>;
  stats(): LedgerWriterStats;
}

/** Half of the 50 ms that the design allows: of the 100 ms until a row counts as acknowledged, the rest is the disk's. */
const MAX_BATCH_MS = 25;
const DEFAULT_MAX_QUEUED_ROWS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
const DAY_MS = 86_400_000;

/** Starts the writer thread for a ledger file. */
export function createLedgerWriter(options: LedgerWriterOptions): LedgerWriter {
  return new ThreadedWriter(options);
}

class ThreadedWriter implements LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #setup: WriterSetup;
  readonly #queue: RowQueue;
  #worker: Worker | undefined;
  #state: 'running' | 'closing' | 'over' = 'running';
  #closing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #cancelRestart: (() => void) | undefined;
  #restarts = 0;
  #written = 0;
  #dropped = 0;
  readonly #trouble: Trouble;
  /** True while the disk refuses, so that waiting for it makes no sense. */
  #stuck = false;
  #opening: { resolve: () => void; reject: (error: SvcError) => void } | undefined;
  readonly #opened: Promise<void>;
  #flushing: (() => void)[] = [];
  readonly #pruning = new Map<number, (rows: number) => void>();
  #pruneSeq = 0;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#trouble = new Trouble(options.onTrouble);
    this.#queue = new RowQueue(options.maxQueuedRows ?? DEFAULT_MAX_QUEUED_ROWS);
    this.#setup = {
      file: options.file,
      synchronous: options.synchronous ?? 'normal',
      migrations: options.migrations ?? migrations,
    };
    this.#opened = new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
    });
    // Whoever does not ask for `ready` hears of a refusal through `onTrouble`.
    this.#opened.catch(() => undefined);
    this.#startThread();
  }

  record(row: LedgerRow): void {
    const gathered = this.#state === 'running' ? this.#queue.add(row) : 0;
    if (gathered === 0) this.#drop(1);
    else if (gathered >= MAX_BATCH_ROWS) this.#send();
    else if (gathered === 1) {
      this.#cancelTimer = this.#options.clock.after(MAX_BATCH_MS, () => this.#send());
    }
  }

  ready(): Promise<void> {
    this.#keepAlive();
    return this.#opened;
  }

  flush(): Promise<void> {
    this.#send();
    if (this.#queue.rows === 0 || this.#worker === undefined || this.#stuck) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#flushing.push(resolve);
      this.#keepAlive();
    });
  }

  prune(olderThanDays: number): Promise<number> {
    const beforeMs = this.#options.clock.wallMs() - olderThanDays * DAY_MS;
    const worker = this.#worker;
    if (worker === undefined) return Promise.resolve(0);
    this.#pruneSeq += 1;
    const seq = this.#pruneSeq;
    return new Promise((resolve) => {
      this.#pruning.set(seq, resolve);
      this.#keepAlive();
      this.#post({ type: 'prune', seq, beforeMs });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  stats(): LedgerWriterStats {
    return {
      written: this.#written,
      queued: this.#queue.rows,
      dropped: this.#dropped,
      trouble: this.#trouble.current,
    };
  }

  #startThread(): void {
    const entry = this.#options.threadUrl ?? new URL('./writer-worker.js', import.meta.url);
    const worker = new Worker(entry, {
      workerData: this.#setup,
      name: 'svc-ledger',
      // Flags of the process, such as those of `node -e`, may not fit a thread.
      execArgv: [],
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: FromWriter) => this.#hear(message));
    worker.on('error', (error) =>
      this.#trouble.begin(diskError(`The ledger thread failed: ${error.message}`, error)),
    );
    worker.on('exit', () => this.#onExit());
    this.#hand();
  }

  #onExit(): void {
    this.#worker = undefined;
    this.#queue.takeBack();
    this.#release();
    this.#opening?.resolve();
    for (const resolve of this.#pruning.values()) resolve(0);
    this.#pruning.clear();
    if (this.#state !== 'running') return;
    const delayMs = Math.min(FIRST_RESTART_MS * 2 ** this.#restarts, LONGEST_RESTART_MS);
    this.#restarts += 1;
    this.#cancelRestart = this.#options.clock.after(delayMs, () => this.#startThread());
  }

  #hear(message: FromWriter): void {
    switch (message.type) {
      case 'open':
        this.#opening?.resolve();
        break;
      case 'written':
        this.#onWritten(message.seq, message.rejected, message.reason);
        break;
      case 'pruned':
        this.#pruning.get(message.seq)?.(message.rows);
        this.#pruning.delete(message.seq);
        this.#rest();
        break;
      case 'trouble':
        this.#stuck = true;
        this.#trouble.begin(diskError(`The ledger cannot be written: ${message.message}`));
        this.#opening?.resolve();
        this.#release();
        break;
      case 'replaced':
        this.#options.onTrouble(replacedError(this.#options.file, message.aside, message.message));
        break;
      case 'refused':
        this.#refuse(new SvcError('config', message.message, { cure: message.cure }));
        break;
    }
  }

  #onWritten(seq: number, rejected: number, reason: string | undefined): void {
    this.#restarts = 0;
    this.#stuck = false;
    this.#trouble.end();
    this.#written += this.#queue.settle(seq) - rejected;
    if (rejected > 0) this.#drop(rejected, reason);
    this.#hand();
    if (this.#queue.rows === 0) this.#release();
  }

  /** The file is not ours to write: what is queued is lost, and said to be. */
  #refuse(error: SvcError): void {
    this.#state = 'over';
    this.#opening?.reject(error);
    this.#trouble.begin(error);
    this.#dropped += this.#queue.clear();
  }

  async #close(): Promise<void> {
    this.#cancelRestart?.();
    const worker = this.#worker;
    if (this.#state === 'running' && worker !== undefined) {
      this.#state = 'closing';
      worker.ref();
      this.#send(Infinity);
      this.#post({ type: 'close' });
      // The machine's own timer: a clock that a test holds still must not hold up the shutdown.
      const timeout = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
      await new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      clearTimeout(timeout);
    }
    this.#cancelTimer?.();
    const lost = this.#queue.clear();
    if (lost > 0) this.#drop(lost, 'the ledger was closed before the disk took it');
    this.#state = 'over';
  }

  /** Ends the batch being gathered and hands out what may go. */
  #send(maxInFlight?: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#queue.cut();
    this.#hand(maxInFlight);
  }

  #hand(maxInFlight?: number): void {
    if (this.#worker === undefined) return;
    for (;;) {
      const batch = this.#queue.next(maxInFlight);
      if (batch === undefined) return;
      this.#post({ type: 'rows', seq: batch.seq, cells: batch.cells });
    }
  }

  #post(message: ToWriter): void {
    this.#worker?.postMessage(message);
  }

  /** While somebody waits for the thread, it keeps the process alive; otherwise it does not. */
  #keepAlive(): void {
    this.#worker?.ref();
  }

  #rest(): void {
    if (this.#state === 'running' && this.#pruning.size === 0) this.#worker?.unref();
  }

  #release(): void {
    for (const resolve of this.#flushing.splice(0)) resolve();
    this.#rest();
  }

  #drop(rows: number, reason = 'the queue is full'): void {
    this.#dropped += rows;
    if (this.#state === 'over') return;
    this.#trouble.begin(diskError(`The ledger lost a row: ${reason}`));
  }
}
