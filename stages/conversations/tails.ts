/** How far a conversation was sent, kept across requests and restarts. */
import { isObject } from '../dialect/json-kind.ts';

export interface Tail {
  /** Number of blocks in the newest request. */
  readonly blocks: number;
  /** `BlockHashes.upTo` of these blocks. */
  readonly chain?: string;
  /** What an older version stored instead: `BlockHashes.olderUpTo`. */
  readonly hash?: string;
  /** When it was sent, in epoch milliseconds. */
  readonly atMs: number;
  /**
   * Recent pauses between requests, oldest first: `s` within the cache's lifetime, `l` beyond it.
   */
  readonly gaps: string;
  /** True from the second request on. */
  readonly goesOn: boolean;
}

/** Returns the tails in a parsed list; none if it is not a list. */
export function parseTails(value: unknown): readonly Tail[] {
  return Array.isArray(value) ? value.filter(isTail) : [];
}

function isTail(value: unknown): value is Tail {
  if (!isObject(value)) return false;
  const { blocks, chain, hash, atMs, gaps, goesOn } = value;
  return (
    typeof blocks === 'number' &&
    typeof (chain ?? hash) === 'string' &&
    typeof atMs === 'number' &&
    typeof gaps === 'string' &&
    typeof goesOn === 'boolean'
  );
}
