/** Options and report of an indexing run. */
import type { Clock } from '../../../engine/clock.ts';
import type { ReadPool } from '../read/read-pool.ts';
import type { SkipCounts } from '../read/walk.ts';

/** Progress of an indexing run. */
export interface IndexProgress {
  /** Number of files to read; `done` of them have been read. */
  readonly total: number;
  readonly done: number;
  readonly blocks: number;
  readonly filesPerSecond: number;
  /** Estimated remaining time, in milliseconds. */
  readonly remainingMs: number;
}

export interface IndexOptions {
  /** The folder to index. */
  readonly root: string;
  /** The folder of the index; created if missing. */
  readonly indexDir: string;
  readonly clock: Clock;
  /** Creates a unique id for a new log. */
  readonly newId: () => string;
  /** 1–8 threads; 4 when absent. */
  readonly workers?: number;
  /** False splits code by its layout instead of parsing it; true when absent. */
  readonly parseCode?: boolean;
  /** A smaller log is never compacted; 8 MiB when absent. */
  readonly compactBytes?: number;
  /**
   * Indexes only these paths, relative to `root`, instead of walking all of it. Paths that no
   * longer exist are forgotten.
   */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: IndexProgress) => void;
  /** Called when another process is indexing into the same vault and this run waits for it. */
  readonly onWait?: () => void;
  /** Threads to use instead of starting some; not closed afterwards. */
  readonly pool?: ReadPool;
}

/** Report of an indexing run. */
export interface IndexReport {
  /** The root of the files: the folder itself, or the indexed folder that contains it. */
  readonly root: string;
  /** Files now in the vault, within the scope of this run. */
  readonly files: number;
  readonly indexed: number;
  readonly unchanged: number;
  readonly removed: number;
  /** Blocks of the indexed files. */
  readonly blocks: number;
  readonly skipped: SkipCounts;
  readonly durationMs: number;
  /** False if the signal ended the run; the work until then is kept. */
  readonly complete: boolean;
}
