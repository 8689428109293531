/** What an indexing run is asked for, and what it reports. */
import type { Clock } from '../../../engine/clock.ts';
import type { ReadPool } from '../read/read-pool.ts';
import type { SkipCounts } from '../read/walk.ts';

/** How far an indexing run has come. */
export interface IndexProgress {
  /** Files that have to be read, and how many of them have been. */
  readonly total: number;
  readonly done: number;
  readonly blocks: number;
  readonly filesPerSecond: number;
  /** Estimated time that is left, in milliseconds. */
  readonly remainingMs: number;
}

export interface IndexOptions {
  /** The folder to index. */
  readonly root: string;
  /** The folder of the index; made when it is missing. */
  readonly indexDir: string;
  readonly clock: Clock;
  /** Makes the id of a new log: any string that is not made twice. */
  readonly newId: () => string;
  /** 1–8 threads; 4 when absent. */
  readonly workers?: number;
  /** False cuts code by its layout instead of parsing it; true when absent. */
  readonly parseCode?: boolean;
  /** A log of fewer bytes is left as it is, however little of it is in use; 8 MiB when absent. */
  readonly compactBytes?: number;
  /**
   * Only these paths, relative to `root`, instead of walking all of it. Paths that no
   * longer exist are forgotten.
   */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: IndexProgress) => void;
  /** Another process is indexing into the same vault; this run waits for it to end. */
  readonly onWait?: () => void;
  /** Threads to use instead of starting some; left open. */
  readonly pool?: ReadPool;
}

/** What an indexing run did. */
export interface IndexReport {
  /** The root that the files belong to: the folder itself, or the indexed folder it lies in. */
  readonly root: string;
  /** Files that belong to the vault now, as far as this run looked. */
  readonly files: number;
  readonly indexed: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Blocks of the files that were indexed. */
  readonly blocks: number;
  readonly skipped: SkipCounts;
  readonly durationMs: number;
  /** False when the signal ended it; what was done until then is kept. */
  readonly complete: boolean;
}
