/** What the ledger's two halves send each other across the thread boundary. */
import type { Cell } from '../tables.ts';
import type { Migration } from '../migrations.ts';

/** Setup of the writer thread of a database. */
export interface PostgresSetup {
  readonly url: string;
  readonly migrations: readonly Migration[];
}

/** How the writer thread opens its file. */
export interface WriterSetup {
  /** Absolute path of the SQLite file. */
  readonly file: string;
  /** `full` also survives a power cut, at the price of a disk sync for every batch. */
  readonly synchronous: 'normal' | 'full';
  readonly migrations: readonly Migration[];
}

/** Deletes the oldest rows that began before `pruneBeforeMs`, at most `max`. */
export interface PruneJob {
  readonly pruneBeforeMs: number;
  readonly max: number;
}

/**
 * The writer thread's work: it stores batches of rows in one flat array of cells, and deletes old
 * ones.
 */
export interface WriterProtocol {
  readonly job: readonly Cell[] | PruneJob;
  readonly result: {
    /** Rows refused for their content. */
    readonly rejected: number;
    readonly reason: string | undefined;
    readonly deleted: number;
  };
  readonly part: never;
  readonly event: WriterEvent;
  readonly notice: never;
}

export type WriterEvent =
  /** `inode` identifies the file, in case it is replaced. */
  | { readonly type: 'open'; readonly inode: bigint | undefined }
  /** The file or database must not be written by this program; retrying is pointless. */
  | { readonly type: 'refused'; readonly message: string; readonly cure: string }
  /**
   * Writing failed temporarily; the same work is retried. Without its own cure, the fault is the
   * disk's.
   */
  | { readonly type: 'problem'; readonly message: string; readonly cure?: string }
  /** The damaged file is now at `aside`; a new one was created. */
  | { readonly type: 'replaced'; readonly aside: string; readonly message: string };
