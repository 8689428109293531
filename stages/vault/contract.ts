/** The interface of a vault, and its options. */
import type { Clock } from '../../engine/clock.ts';
import type { BlockInfo, BlockSource } from './block.ts';
import type { BackendName, IndexTotals } from './backends/block-index.ts';
import type { IngestBlock, IngestResult } from './ingest.ts';
import type { SearchHit, SearchOptions } from './search/search.ts';

/** A report of damage. `movedTo` is the damaged file's new path. */
export interface VaultProblem {
  readonly what: string;
  readonly movedTo: string;
}

export interface VaultOptions {
  /** Folder of the index; created by the first write. */
  readonly indexDir: string;
  readonly backend: BackendName;
  readonly clock: Clock;
  /** Creates unique ids for new logs. */
  readonly newId: () => string;
  /** Called once for each damage, which has been or will be repaired. */
  readonly onProblem?: (problem: VaultProblem) => void;
}

/** Status of a vault, from data already in memory. */
export interface VaultStatus extends IndexTotals {
  /** True once there is a readable log. */
  readonly available: boolean;
  readonly path: string;
  readonly backend: BackendName;
  /** Folders whose files are in it. */
  readonly roots: readonly string[];
  /** True while files lost to damage are being reread. */
  readonly rebuilding: boolean;
}

/** An open vault. */
export interface OpenedVault {
  /** Returns the hits for a query, best first. Waits until the index is loaded. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /**
   * Returns, of blocks found earlier, the ids of those that must no longer be sent: blocks that are
   * no longer `safe`, of a forgotten folder, or of a file that exists but is now excluded. A block
   * whose file changed or was deleted stays, and so does one that cannot be judged now because
   * there is no log or its folder is being reread.
   */
  withdrawn(blocks: readonly BlockSource[]): Promise<string[]>;
  /**
   * Adds blocks. Once it resolves they are on disk and visible to the next search. One result per
   * block, in order.
   */
  ingest(blocks: readonly IngestBlock[]): Promise<IngestResult[]>;
  status(): Promise<VaultStatus>;
  /** Returns the blocks ordered by path. */
  list(page?: { readonly offset?: number; readonly limit?: number }): Promise<BlockInfo[]>;
  /** Resolves when no rebuild is running. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A vault that is opened once there is something to find. */
export interface Vault extends OpenedVault {
  /**
   * Returns false while there is certainly nothing to find, so that a request can skip the query.
   * Checks the disk at most once a second.
   */
  mayHaveBlocks(): boolean;
  /**
   * Returns false while a large index is being loaded for the first time, which takes seconds. As
   * of the last `mayHaveBlocks`.
   */
  isReady(): boolean;
}
