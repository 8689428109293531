/** The ledger's writer as others see it. */
import type { Clock, SvcError } from '../../../engine/index.ts';
import type { LedgerRow } from '../row.ts';
import type { Migration } from '../migrations.ts';

export interface LedgerWriterOptions {
  /**
   * Absolute path of the SQLite file, whose folder is made if it is not there, or the URL of a
   * Postgres database, where tables are.
   */
  readonly db: string;
  readonly clock: Clock;
  /**
   * Hears of each trouble once until it is over: a disk or server that refuses or a row lost
   * (`unavailable`, RESOURCE_002), a damaged file put aside (`internal`), a file or database that
   * must not be used (`config`).
   */
  readonly onTrouble: (error: SvcError) => void;
  /** Rows held in memory at most while the disk is behind. Default 10,000, some 10 MB. */
  readonly maxQueuedRows?: number;
  /** `full` makes a row in a file survive a power cut too. Default `normal`: it survives the process. */
  readonly synchronous?: 'normal' | 'full';
  /** How long closing may wait for rows to be stored, in milliseconds. Default 5000. */
  readonly closeWithinMs?: number;
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
  /** The last damaged file that this writer put aside, and where. */
  readonly replaced: SvcError | undefined;
}

/**
 * Whether the path still leads to the open file: `gone` when it leads nowhere, `replaced` when to
 * another file. The next row goes to a new file then, or to that one. `kept` before the first opening.
 */
export type LedgerFileState = 'kept' | 'gone' | 'replaced';

export interface LedgerWriter {
  /** Takes a row and returns at once; never throws, never waits. */
  record(row: LedgerRow): void;
  /** Resolves when the file is open, or cannot be for now; rejects (`config`) if it must not be used. */
  ready(): Promise<void>;
  /** Resolves when every row recorded so far is in the file, or when the disk turns out to refuse them. */
  flush(): Promise<void>;
  /**
   * Deletes the rows that began before `beforeMs`, some hundreds at a time with pauses for what is
   * recorded meanwhile. Their sums stay. Resolves with how many there were; early when the writer
   * is closed. Never rejects.
   */
  prune(beforeMs: number): Promise<number>;
  /** Flushes for at most two seconds, then ends the thread; rows that did not make it count as dropped. */
  close(): Promise<void>;
  stats(): LedgerWriterStats;
  /** Looks at the disk for the file that rows were last written to. Never rejects. */
  fileState(): Promise<LedgerFileState>;
}
