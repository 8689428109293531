/** The interface of both backends, which make the content of the log searchable. */
import type { BlockInfo } from '../block.ts';
import type { LogSink } from '../log/log.ts';
import type { Corpus } from '../search/score.ts';

/** Backend names, as `SVC_RETRIEVAL_BACKEND` spells them. */
export const BACKENDS = ['json_blocks', 'sqlite'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Totals of an index. */
export interface IndexTotals {
  readonly blocks: number;
  readonly files: number;
  readonly tokens: number;
}

/** Position of a block's text in the log, as a JSON string. */
export interface RecordLocation {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Blocks by number, fed from the log. Numbers are only valid within one index.
 */
export interface BlockIndex extends LogSink {
  readonly corpus: Corpus;
  /**
   * Returns the result of `work`, run on one consistent state: the one that `resume` and the log
   * have led to. Returns undefined without calling `work` if another process has moved on.
   */
  read<T extends object>(work: () => T): T | undefined;
  /** Returns true for a block that may be sent to a provider. */
  isSafe(block: number): boolean;
  info(block: number): BlockInfo;
  locate(block: number): RecordLocation;
  /** Returns the block with this id. */
  findBlock(id: string): BlockInfo | undefined;
  /** Returns true for a file that blocks were read from. */
  hasFile(root: string, path: string): boolean;
  totals(): IndexTotals;
  /** Returns all blocks ordered by path and line, at most `limit` from `offset` on. */
  list(offset: number, limit: number): BlockInfo[];
  /** Returns the folders that blocks were read from, and those that must be reread, in order. */
  roots(): string[];
  /** Returns the folders that must be reread at least in part, with `RootHeader.rereadMs`. */
  owed(): ReadonlyMap<string, number>;
  /** Returns true if its files were deleted or moved, so that it has to be reopened. */
  isLost?(): boolean;
  /**
   * For a persistent index: returns its position and log, after rereading whatever another process
   * may have changed.
   */
  resume?(): Promise<{ readonly logId: string; readonly offset: number } | undefined>;
  close(): void;
}

/** Compares blocks by position, the same in every backend. */
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
