/** How far a conversation was sent, as it is kept between requests and restarts. */
import { isObject } from '../dialect/json-kind.ts';

export interface Tail {
  /** Blocks of the newest request. */
  readonly blocks: number;
  /** Tells them, and the tools before them, from any others. */
  readonly hash: string;
  /** When it was sent, in wall time. */
  readonly atMs: number;
  /** The newest pauses between requests, oldest first: `s` within the life of the cache, `l` beyond. */
  readonly gaps: string;
  /** True from the second request on. */
  readonly goesOn: boolean;
}

/** Those of a list that are tails; none of anything else. */
export function parseTails(value: unknown): readonly Tail[] {
  return Array.isArray(value) ? value.filter(isTail) : [];
}

function isTail(value: unknown): value is Tail {
  if (!isObject(value)) return false;
  const { blocks, hash, atMs, gaps, goesOn } = value;
  return (
    typeof blocks === 'number' &&
    typeof hash === 'string' &&
    typeof atMs === 'number' &&
    typeof gaps === 'string' &&
    typeof goesOn === 'boolean'
  );
}
