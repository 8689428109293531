/** The ledger's writer as others see it. */
import type { Clock, SvcError } from '../../../engine/index.ts';
import type { LedgerRow } from '../row.ts';
import type { Migration } from '../migrations.ts';

export interface LedgerWriterOptions {
  /**
   * Absolute path of the SQLite file, whose folder is made if missing, or the URL of a Postgres
   * database, where tables are made.
   */
  readonly db: string;
  readonly clock: Clock;
  /**
   * Called once for each fault until it is over: a disk or server that refuses or a lost row
   * (`unavailable`, RESOURCE_002), a damaged file moved aside (`internal`), a file or database that
   * must not be used (`config`).
   */
  readonly onProblem: (error: SvcError) => void;
  /** Maximum rows kept in memory while the disk cannot keep up. Default 10,000, some 10 MB. */
  readonly maxQueuedRows?: number;
  /**
   * With `full` a row in a file also survives a power cut. Default `normal`: it survives the
   * process.
   */
  readonly synchronous?: 'normal' | 'full';
  /** How long closing may wait for rows to be stored, in milliseconds. Default 5000. */
  readonly closeWithinMs?: number;
  /** The schema's steps; only tests pass their own, as for the thread's entry. */
  readonly migrations?: readonly Migration[];
  readonly threadUrl?: URL;
}

export interface LedgerWriterStats {
  /** Rows that are stored. */
  readonly written: number;
  /** Rows not yet stored. */
  readonly queued: number;
  /** Rows that will never be stored. */
  readonly dropped: number;
  /** The current fault; undefined if there is none. */
  readonly problem: SvcError | undefined;
  /** The last damaged file that this writer moved aside, and its new path. */
  readonly replaced: SvcError | undefined;
}

/**
 * Whether the path still leads to the open file: `gone` if it leads nowhere, `replaced` if it leads
 * to another file. The next row then goes to a new file, or to that one. `kept` before the first
 * opening.
 */
export type LedgerFileState = 'kept' | 'gone' | 'replaced';

export interface LedgerWriter {
  /** Takes a row and returns at once; never throws, never waits. */
  record(row: LedgerRow): void;
  /**
   * Resolves when the file is open, or temporarily cannot be opened; rejects (`config`) if it must
   * not be used.
   */
  ready(): Promise<void>;
  /**
   * Resolves when every row recorded so far is stored, or when the disk turns out to refuse them.
   */
  flush(): Promise<void>;
  /**
   * Deletes the rows that began before `beforeMs`, some hundreds at a time with pauses for new
   * rows. Their sums stay. Resolves with the number deleted; early when the writer is closed. Never
   * rejects.
   */
  prune(beforeMs: number): Promise<number>;
  /**
   * Flushes for at most `closeWithinMs`, then ends the thread; rows that were not stored in time
   * count as dropped.
   */
  close(): Promise<void>;
  stats(): LedgerWriterStats;
  /** Checks on disk for the file that rows were last written to. Never rejects. */
  fileState(): Promise<LedgerFileState>;
}
