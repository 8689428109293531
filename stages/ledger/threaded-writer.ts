/**
 * The near side of the writer thread: gathers rows into batches, hands them
 * over, and keeps the thread alive. See `writer.ts` for the contract.
 */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { SvcError } from '../../engine/index.ts';
import type { LedgerRow } from './row.ts';
import { migrations } from './tables.ts';
import { diskError, replacedError, Trouble } from './trouble.ts';
import type { FromWriter, ToWriter, WriterSetup } from './writer-messages.ts';
import { MAX_BATCH_ROWS, RowQueue } from './writer-queue.ts';
import type {
  LedgerPlace,
  LedgerWriter,
  LedgerWriterOptions,
  LedgerWriterStats,
} from './writer-contract.ts';

/** Of the 100 ms until a row counts as acknowledged, the most is left to the disk and to a busy machine. */
const MAX_BATCH_MS = 10;
const DEFAULT_MAX_QUEUED_ROWS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;

/** A writer whose file belongs to a thread; starts that thread, and another when it dies. */
export class ThreadedWriter implements LedgerWriter {
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
  /** Present until the first attempt at the file has ended. */
  #opening: { resolve: () => void; reject: (error: SvcError) => void } | undefined;
  readonly #opened: Promise<void>;
  /** Rows that have left the queue; a flush waits for it to reach `target`. */
  #settled = 0;
  #flushing: { readonly target: number; readonly resolve: () => void }[] = [];
  #replaced: SvcError | undefined;
  /** Of the file that the thread has open; undefined before it has one. */
  #inode: bigint | undefined;

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
    if (this.#opening !== undefined) this.#worker?.ref();
    return this.#opened;
  }

  flush(): Promise<void> {
    this.#send();
    if (this.#queue.rows === 0 || this.#worker === undefined || this.#stuck) {
      return Promise.resolve();
    }
    const target = this.#settled + this.#queue.rows;
    return new Promise((resolve) => {
      this.#flushing.push({ target, resolve });
      this.#worker?.ref();
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
      replaced: this.#replaced,
    };
  }

  async place(): Promise<LedgerPlace> {
    if (this.#inode === undefined) return 'kept';
    const found = await stat(this.#options.file, { bigint: true }).catch(() => undefined);
    // The inode is read after the wait: the thread may have opened another file meanwhile.
    if (found === undefined) return 'gone';
    return found.ino === this.#inode ? 'kept' : 'replaced';
  }

  #startThread(): void {
    const entry = this.#options.threadUrl ?? new URL('./writer-worker.js', import.meta.url);
    const worker = new Worker(entry, {
      workerData: this.#setup,
      name: 'svc-ledger',
      // Flags of the process, such as those of `node -e`, may not fit a thread.
      execArgv: [],
      // It handles a batch at a time and keeps nothing of it.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
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
    this.#release(Infinity);
    this.#endOpening();
    if (this.#state !== 'running') return;
    const delayMs = Math.min(FIRST_RESTART_MS * 2 ** this.#restarts, LONGEST_RESTART_MS);
    this.#restarts += 1;
    this.#cancelRestart = this.#options.clock.after(delayMs, () => this.#startThread());
  }

  #hear(message: FromWriter): void {
    switch (message.type) {
      case 'open':
        this.#inode = message.inode;
        this.#stuck = false;
        this.#trouble.end();
        this.#endOpening();
        break;
      case 'written':
        this.#onWritten(message.seq, message.rejected, message.reason);
        break;
      case 'trouble':
        this.#stuck = true;
        this.#trouble.begin(diskError(`The ledger cannot be written: ${message.message}`));
        this.#endOpening();
        this.#release(Infinity);
        break;
      case 'replaced':
        this.#replaced = replacedError(this.#options.file, message.aside, message.message);
        this.#options.onTrouble(this.#replaced);
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
    const rows = this.#queue.settle(seq);
    this.#settled += rows;
    this.#written += rows - rejected;
    if (rejected > 0) this.#drop(rejected, reason);
    this.#hand();
    this.#release(this.#settled);
  }

  /** The file is not ours to write: what is queued is lost, and reported. */
  #refuse(error: SvcError): void {
    this.#state = 'over';
    this.#endOpening(error);
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

  /** Lets go those whose rows are stored; all of them if waiting makes no sense. */
  #release(upTo: number): void {
    const done = this.#flushing.filter((flush) => flush.target <= upTo);
    this.#flushing = this.#flushing.filter((flush) => flush.target > upTo);
    for (const flush of done) flush.resolve();
    this.#rest();
  }

  #endOpening(error?: SvcError): void {
    if (error === undefined) this.#opening?.resolve();
    else this.#opening?.reject(error);
    this.#opening = undefined;
    this.#rest();
  }

  /** The thread keeps the process alive only while somebody waits for it. */
  #rest(): void {
    if (this.#state === 'running' && this.#flushing.length === 0) this.#worker?.unref();
  }

  #drop(rows: number, reason = 'the queue is full'): void {
    this.#dropped += rows;
    if (this.#state === 'over') return;
    this.#trouble.begin(diskError(`The ledger lost a row: ${reason}`));
  }
}
