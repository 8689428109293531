/**
 * What compression took away, kept in memory so that a user can look at it:
 * for every request the changed blocks, before and after, each under a short id.
 * The newest stay, up to a bound in bytes.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** 32 MB of text, as characters of two bytes. */
const MAX_CHARS = 16 * 1024 * 1024;
const MAX_REQUESTS = 500;

export interface ChangedBlock {
  /** Position among the request's blocks. */
  readonly index: number;
  readonly toolName: string | null;
  /** Names of the algorithms that changed it, in order. */
  readonly by: readonly string[];
  readonly kind: string | null;
  readonly before: string;
  readonly after: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** A changed block with the id under which its original can be read. */
export interface KeptBlock extends ChangedBlock {
  readonly id: string;
}

export interface LostBlocks {
  /** Keeps the changed blocks of a request. */
  keep(requestId: string, blocks: readonly ChangedBlock[]): void;
  /** The changed blocks of a request; undefined if nothing of it is kept (any more). */
  ofRequest(requestId: string): readonly KeptBlock[] | undefined;
  /** One block by its id. */
  get(id: string): KeptBlock | undefined;
  /** The request that came last and changed something. */
  readonly lastRequestId: string | undefined;
}

/** Twelve characters of the original's hash: the same text has the same id. */
function idOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

export function createLostBlocks(): LostBlocks {
  const blocks = new LRUCache<string, KeptBlock>({
    maxSize: MAX_CHARS,
    sizeCalculation: (block) => block.before.length + block.after.length + 200,
  });
  const requests = new LRUCache<string, readonly string[]>({ max: MAX_REQUESTS });
  let lastRequestId: string | undefined;
  return {
    keep(requestId, changed) {
      if (changed.length === 0) return;
      const ids = changed.map((block) => {
        const id = idOf(block.before);
        if (!blocks.has(id)) blocks.set(id, Object.freeze({ ...block, id }));
        return id;
      });
      requests.set(requestId, ids);
      lastRequestId = requestId;
    },
    ofRequest: (requestId) =>
      requests.get(requestId)?.flatMap((id) => {
        const block = blocks.get(id);
        return block === undefined ? [] : [block];
      }),
    get: (id) => blocks.get(id),
    get lastRequestId() {
      return lastRequestId;
    },
  };
}
