/** The one interface of both backends: what the log says, made searchable. */
import type { BlockInfo } from '../block.ts';
import type { LogSink } from '../log/log.ts';
import type { Corpus } from '../search/score.ts';

/** The names of the backends, as `SVC_RETRIEVAL_BACKEND` spells them. */
export const BACKENDS = ['json_blocks', 'sqlite'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** The sums over an index. */
export interface IndexTotals {
  readonly blocks: number;
  readonly files: number;
  readonly tokens: number;
}

/** Where a block's text stands in the log, as a JSON string. */
export interface RecordLocation {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Blocks by number, fed from the log. Numbers belong to one index and are not the same in
 * another.
 */
export interface BlockIndex extends LogSink {
  readonly corpus: Corpus;
  /**
   * What `work` returns, with all that it reads from one state: the one that `resume` and the
   * log have led to. Undefined, and `work` not called, when another process has moved on.
   */
  read<T extends object>(work: () => T): T | undefined;
  /** True for a block that may be sent to a provider. */
  isSafe(block: number): boolean;
  info(block: number): BlockInfo;
  locate(block: number): RecordLocation;
  /** The block with this id. */
  held(id: string): BlockInfo | undefined;
  /** True for a file that blocks were read from. */
  hasFile(root: string, path: string): boolean;
  totals(): IndexTotals;
  /** All blocks in the order of their paths and lines; at most `limit` from `offset` on. */
  list(offset: number, limit: number): BlockInfo[];
  /** The folders that blocks were read from, and those of which something is owed, in order. */
  roots(): string[];
  /** Folders of which something has to be read again, with `RootHeader.rereadMs`. */
  owed(): ReadonlyMap<string, number>;
  /** True when the files that it stands in were deleted or moved: it has to be opened again. */
  isLost?(): boolean;
  /**
   * For an index that outlives the process: where in which log it stands, after reading
   * again what another process may have changed.
   */
  resume?(): Promise<{ readonly logId: string; readonly offset: number } | undefined>;
  close(): void;
}

/** Orders blocks by where they stand, in the same way in every backend. */
export function compareInfo(a: BlockInfo, b: BlockInfo): number {
  return (
    compare(a.root, b.root) ||
    compare(a.sourcePath, b.sourcePath) ||
    a.startLine - b.startLine ||
    compare(a.id, b.id)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
