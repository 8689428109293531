/** What the ledger's two halves send each other across the thread boundary. */
import type { Cell } from '../tables.ts';
import type { Migration } from '../migrations.ts';

/** Where the thread of a database writes. */
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

/** Deletes the oldest rows of those that began before `pruneBeforeMs`, at most `most`. */
export interface PruneJob {
  readonly pruneBeforeMs: number;
  readonly most: number;
}

/** What the writer thread does: it stores batches of rows in one flat array of cells, and deletes old ones. */
export interface WriterProtocol {
  readonly job: readonly Cell[] | PruneJob;
  readonly result: {
    /** Rows that the file refused for their content. */
    readonly rejected: number;
    readonly reason: string | undefined;
    readonly deleted: number;
  };
  readonly part: never;
  readonly event: WriterEvent;
  readonly notice: never;
}

export type WriterEvent =
  /** `inode` tells a file from another that is put in its place. */
  | { readonly type: 'open'; readonly inode: bigint | undefined }
  /** The file or database must not be written by this program; trying again is pointless. */
  | { readonly type: 'refused'; readonly message: string; readonly cure: string }
  /** Writing failed for now; the same work is tried again. Without a cure of its own it is the disk. */
  | { readonly type: 'trouble'; readonly message: string; readonly cure?: string }
  /** The file was damaged and now lies at `aside`; a new one was begun. */
  | { readonly type: 'replaced'; readonly aside: string; readonly message: string };
