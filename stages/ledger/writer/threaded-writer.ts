/**
 * The caller's side of the writer thread: gathers rows into batches, sends them, and keeps them
 * until they are stored. `record` copies a row into a batch and returns; a thread does all work on
 * the disk, or the database server. The queue is bounded: when the store is unavailable, rows are
 * dropped and counted, and requests continue.
 */
import { stat } from 'node:fs/promises';
import { SvcError } from '../../../engine/index.ts';
import { WorkerPool } from '../../threads/pool.ts';
import type { JobEnd } from '../../threads/job-end.ts';
import { isPostgresUrl } from '../address.ts';
import { postgresThread } from '../postgres/thread.ts';
import type { LedgerRow } from '../row.ts';
import { sqliteThread } from '../sqlite/thread.ts';
import { pushCells } from '../tables.ts';
import { migrations } from '../migrations.ts';
import type { Cell } from '../tables.ts';
import { cureOf, replacedError, storeError, CurrentProblem } from './problem.ts';
import type { PostgresSetup, WriterEvent, WriterProtocol, WriterSetup } from './writer-messages.ts';
import type {
  LedgerFileState,
  LedgerWriter,
  LedgerWriterOptions,
  LedgerWriterStats,
} from './writer-contract.ts';

/**
 * A row should be acknowledged within 100 ms; most of that is left to the disk and to a busy
 * machine.
 */
const MAX_BATCH_MS = 30;
/** Maximum rows in a batch. */
const MAX_BATCH_ROWS = 50;
/** Batches sent and not yet stored; further ones wait on this side. */
const MAX_IN_FLIGHT = 8;
/** Old rows deleted at once: a few milliseconds, in which no new row is written. */
const MAX_PRUNED_ROWS = 500;
/** Time for other disk work between two deletions. */
const PRUNE_PAUSE_MS = 20;
const DEFAULT_MAX_QUEUED_ROWS = 10_000;
/** Together with the 30 s in which requests may end, as long as `svc stop` waits. */
const DEFAULT_CLOSE_WITHIN_MS = 5000;
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;

interface ErrorDetails {
  readonly cure?: string;
  readonly cause?: Error;
}

/** A writer whose file belongs to a thread; if the thread dies, another is started. */
export class ThreadedWriter implements LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #pool: WorkerPool<WriterProtocol>;
  readonly #maxQueuedRows: number;
  /** The batch being gathered. */
  #cells: Cell[] = [];
  #gathered = 0;
  /** Rows accepted and not yet stored. */
  #queued = 0;
  #state: 'running' | 'closing' | 'over' = 'running';
  #closing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #written = 0;
  #dropped = 0;
  readonly #problem: CurrentProblem;
  /** True while the disk refuses, so that waiting for it is pointless. */
  #stuck = false;
  /** Present until the first attempt at the file has ended. */
  #opening:
    | { resolve: () => void; reject: (error: SvcError) => void; release?: () => void }
    | undefined;
  readonly #opened: Promise<void>;
  /** Rows that have left the queue; a flush waits for it to reach `target`. */
  #settled = 0;
  #flushing: { readonly target: number; readonly resolve: () => void }[] = [];
  #replaced: SvcError | undefined;
  /** Inode of the file that the thread has open; undefined before it has one. */
  #inode: bigint | undefined;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#problem = new CurrentProblem(options.onProblem);
    this.#maxQueuedRows = options.maxQueuedRows ?? DEFAULT_MAX_QUEUED_ROWS;
    this.#pool = new WorkerPool({
      ...threadOf(options),
      name: 'svc-ledger',
      clock: options.clock,
      // The thread handles one batch at a time and keeps nothing of it.
      limits: { maxYoungGenerationSizeMb: 4 },
      jobsAtOnce: MAX_IN_FLIGHT,
      // The thread keeps the process alive only while a caller waits for it.
      keepsAlive: false,
      // Storing a row twice changes nothing.
      isRepeatable: true,
      restartAfterMs: (times) => Math.min(FIRST_RESTART_MS * 2 ** times, LONGEST_RESTART_MS),
      onEvent: (event) => this.#onEvent(event),
      onGone: (_thread, cause) => this.#onGone(cause),
    });
    this.#opened = new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
    });
    // A caller that does not wait for `ready` learns of a refusal through `onProblem`.
    this.#opened.catch(() => undefined);
    this.#pool.start();
  }

  record(row: LedgerRow): void {
    if (this.#state !== 'running' || this.#queued >= this.#maxQueuedRows) return this.#drop(1);
    pushCells(this.#cells, row);
    this.#queued += 1;
    this.#gathered += 1;
    if (this.#gathered >= MAX_BATCH_ROWS) this.#send();
    else if (this.#gathered === 1) {
      this.#cancelTimer = this.#options.clock.after(MAX_BATCH_MS, () => this.#send());
    }
  }

  ready(): Promise<void> {
    if (this.#opening !== undefined) this.#opening.release ??= this.#pool.hold();
    return this.#opened;
  }

  flush(): Promise<void> {
    this.#send();
    if (this.#queued === 0 || !this.#pool.isRunning || this.#stuck) return Promise.resolve();
    const target = this.#settled + this.#queued;
    const release = this.#pool.hold();
    return new Promise((resolve) => {
      this.#flushing.push({
        target,
        resolve: () => {
          release();
          resolve();
        },
      });
    });
  }

  async prune(beforeMs: number): Promise<number> {
    const release = this.#pool.hold();
    let deleted = 0;
    try {
      while (this.#state === 'running') {
        const end = await this.#pool.run({ pruneBeforeMs: beforeMs, max: MAX_PRUNED_ROWS });
        if (!('done' in end)) break;
        deleted += end.done.deleted;
        if (end.done.deleted < MAX_PRUNED_ROWS) break;
        await new Promise<void>((resolve) => this.#options.clock.after(PRUNE_PAUSE_MS, resolve));
      }
    } finally {
      release();
    }
    return deleted;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  stats(): LedgerWriterStats {
    return {
      written: this.#written,
      queued: this.#queued,
      dropped: this.#dropped,
      problem: this.#problem.current,
      replaced: this.#replaced,
    };
  }

  async fileState(): Promise<LedgerFileState> {
    if (this.#inode === undefined) return 'kept';
    const stats = await stat(this.#options.db, { bigint: true }).catch(() => undefined);
    // The inode is read after the wait: the thread may have opened another file meanwhile.
    if (stats === undefined) return 'gone';
    return stats.ino === this.#inode ? 'kept' : 'replaced';
  }

  #onGone(cause: Error | undefined): void {
    if (cause !== undefined)
      this.#problem.begin(this.#error(`The ledger thread failed: ${cause.message}`, { cause }));
    this.#release(Infinity);
    this.#endOpening();
  }

  #onEvent(message: WriterEvent): void {
    switch (message.type) {
      case 'open':
        this.#inode = message.inode;
        this.#stuck = false;
        this.#problem.end();
        this.#endOpening();
        break;
      case 'problem':
        this.#stuck = true;
        this.#problem.begin(
          this.#error(`The ledger cannot be written: ${message.message}`, message),
        );
        this.#endOpening();
        this.#release(Infinity);
        break;
      case 'replaced':
        this.#replaced = replacedError(this.#options.db, message.aside, message.message);
        this.#options.onProblem(this.#replaced);
        break;
      case 'refused':
        this.#refuse(new SvcError('config', message.message, { cure: message.cure }));
        break;
    }
  }

  #onWritten(rows: number, end: JobEnd<WriterProtocol['result']>): void {
    // Unstored rows count as lost once the writer is closed.
    if (!('done' in end) || this.#state === 'over') return;
    const { rejected, reason } = end.done;
    this.#stuck = false;
    this.#problem.end();
    this.#queued -= rows;
    this.#settled += rows;
    this.#written += rows - rejected;
    if (rejected > 0) this.#drop(rejected, reason);
    this.#release(this.#settled);
  }

  /** The file is not ours to write: queued rows are lost, and reported as such. */
  #refuse(error: SvcError): void {
    this.#state = 'over';
    // Before the thread is gone, which ends the opening without an error.
    this.#endOpening(error);
    void this.#pool.close();
    this.#problem.begin(error);
    this.#dropped += this.#queued;
    this.#queued = 0;
  }

  async #close(): Promise<void> {
    if (this.#state === 'running') {
      this.#state = 'closing';
      this.#send();
      await this.#pool.close(this.#options.closeWithinMs ?? DEFAULT_CLOSE_WITHIN_MS);
    }
    this.#cancelTimer?.();
    const lost = this.#queued;
    this.#queued = 0;
    if (lost > 0) this.#drop(lost, 'the ledger was closed before the disk took it');
    this.#state = 'over';
  }

  /** Ends the current batch and sends it. */
  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#gathered === 0) return;
    const rows = this.#gathered;
    const end = this.#pool.run(this.#cells);
    this.#cells = [];
    this.#gathered = 0;
    void end.then((how) => this.#onWritten(rows, how));
  }

  /** Resolves the flushes whose rows are stored; all of them if waiting is pointless. */
  #release(upTo: number): void {
    const done = this.#flushing.filter((flush) => flush.target <= upTo);
    this.#flushing = this.#flushing.filter((flush) => flush.target > upTo);
    for (const flush of done) flush.resolve();
  }

  #endOpening(error?: SvcError): void {
    if (error === undefined) this.#opening?.resolve();
    else this.#opening?.reject(error);
    this.#opening?.release?.();
    this.#opening = undefined;
  }

  #drop(rows: number, reason = 'the queue is full'): void {
    this.#dropped += rows;
    if (this.#state === 'over') return;
    this.#problem.begin(this.#error(`The ledger lost a row: ${reason}`));
  }

  #error(message: string, { cure = cureOf(this.#options.db), cause }: ErrorDetails = {}): SvcError {
    return storeError(message, cure, cause);
  }
}

/** Returns the thread for the ledger's location, and its setup. */
function threadOf({
  db,
  synchronous = 'normal',
  migrations: steps = migrations,
  threadUrl,
}: LedgerWriterOptions) {
  if (isPostgresUrl(db)) {
    const data: PostgresSetup = { url: db, migrations: steps };
    return { entry: threadUrl ?? postgresThread, data };
  }
  const data: WriterSetup = { file: db, synchronous, migrations: steps };
  return { entry: threadUrl ?? sqliteThread, data };
}
