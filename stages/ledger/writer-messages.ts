/** What the ledger's two halves say to each other across the thread boundary. */
import type { Cell, Migration } from './tables.ts';

/** How the writer thread opens its file. */
export interface WriterSetup {
  /** Absolute path of the SQLite file. */
  readonly file: string;
  /** `full` also survives a power cut, at the price of a disk sync for every batch. */
  readonly synchronous: 'normal' | 'full';
  readonly migrations: readonly Migration[];
}

/** To the writer thread. `seq` numbers batches, so that each is acknowledged by itself. */
export type ToWriter =
  | { readonly type: 'rows'; readonly seq: number; readonly cells: readonly Cell[] }
  | { readonly type: 'close' };

/** From the writer thread. */
export type FromWriter =
  /** `inode` tells the file from another that is put in its place. */
  | { readonly type: 'open'; readonly inode: bigint | undefined }
  /** The file must not be written by this program; trying again is pointless. */
  | { readonly type: 'refused'; readonly message: string; readonly cure: string }
  | {
      readonly type: 'written';
      readonly seq: number;
      /** Rows that the file refused for their content. */
      readonly rejected: number;
      readonly reason: string | undefined;
    }
  /** Writing failed for now; the same work is tried again. */
  | { readonly type: 'trouble'; readonly message: string }
  /** The file was damaged and now lies at `aside`; a new one was begun. */
  | { readonly type: 'replaced'; readonly aside: string; readonly message: string };
