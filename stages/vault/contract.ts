/** What an opened vault can do, and what it needs. */
import type { Clock } from '../../engine/clock.ts';
import type { BlockInfo, BlockSource } from './block.ts';
import type { BackendName, IndexTotals } from './backends/block-index.ts';
import type { IngestBlock, IngestResult } from './ingest.ts';
import type { SearchHit, SearchOptions } from './search/search.ts';

/** Something was damaged. `movedTo` is where it lies now. */
export interface VaultTrouble {
  readonly what: string;
  readonly movedTo: string;
}

export interface VaultOptions {
  /** The folder of the index; may not exist yet, and is made by the first write. */
  readonly indexDir: string;
  readonly backend: BackendName;
  readonly clock: Clock;
  /** Makes ids for new logs; any string that is not made twice. */
  readonly newId: () => string;
  /** Called with damage, once for each; it has been dealt with by then, or is about to be. */
  readonly onTrouble?: (trouble: VaultTrouble) => void;
}

/** What a vault is, without reading more than it has in memory. */
export interface VaultStatus extends IndexTotals {
  /** True once there is a log that can be read. */
  readonly available: boolean;
  readonly path: string;
  readonly backend: BackendName;
  /** The folders whose files are in it. */
  readonly roots: readonly string[];
  /** Files that were lost to damage are being read again. */
  readonly rebuilding: boolean;
}

/** A vault that is open. */
export interface OpenedVault {
  /** The hits for a query, best first. Waits until the index is loaded. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /**
   * Of blocks that were found once, the ids of those that must no longer be sent: what is
   * not `safe` any more, what is of a folder that was forgotten, and what is of a file that
   * is there and yet left out. A block whose file has another text or was deleted stays, and
   * so does one that cannot be judged now: there is no log, or its folder is being read again.
   */
  withdrawn(blocks: readonly BlockSource[]): Promise<string[]>;
  /** Adds blocks. When it resolves they are on the disk and the next search sees them. One result a block, in order. */
  ingest(blocks: readonly IngestBlock[]): Promise<IngestResult[]>;
  status(): Promise<VaultStatus>;
  /** The blocks in the order of their paths. */
  list(page?: { readonly offset?: number; readonly limit?: number }): Promise<BlockInfo[]>;
  /** Resolves when nothing is being rebuilt. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A vault that is opened when there is something to find. */
export interface Vault extends OpenedVault {
  /**
   * False while there is certainly nothing to find, so that a request need not even ask.
   * Looks at the disk at most once a second.
   */
  mayHaveBlocks(): boolean;
  /**
   * False while a large index is being loaded for the first time, which takes seconds: who
   * cannot wait so long need not ask. As of the last `mayHaveBlocks`.
   */
  isReady(): boolean;
}
