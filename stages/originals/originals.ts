/**
 * What compression removed, kept in memory for users to inspect: for every request the changed
 * blocks, before and after, each under a short id. The newest are kept, up to a limit in bytes.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createChangeCounts } from './change-counts.ts';
import { textId } from './fetch-tool.ts';

/** 32 MB of text, with two bytes per character. */
const MAX_CHARS = 16 * 1024 * 1024;
const MAX_REQUESTS = 500;
const MAX_CONVERSATIONS = 32;

export interface ChangedBlock {
  /** Position among the request's blocks; -1, -2 … for its first, second … tool definition. */
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

/** A changed block with the id for reading its original. */
export interface KeptBlock extends ChangedBlock {
  readonly id: string;
}

/** Tokens of the fixed estimator, over all requests since the start. */
export interface KindTokens {
  readonly kind: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export type Originals = ReturnType<typeof createOriginals>;

/** The place of a kept block in a request. */
interface Position {
  readonly id: string;
  readonly index: number;
}

/** Twelve characters of a hash: the same change of the same text has the same id in every turn. */
function idOf({ before, after }: ChangedBlock): string {
  const hash = createHash('sha256').update(before).update('\0').update(after);
  return hash.digest('base64url').slice(0, 12);
}

export function createOriginals() {
  /** Texts by the id in their markers, each as the newest block that has it. */
  const texts = new Map<string, string>();
  const blocks = new LRUCache<string, KeptBlock & { readonly textId: string }>({
    maxSize: MAX_CHARS,
    sizeCalculation: (block) => block.before.length + block.after.length + 300,
    dispose(block, id) {
      if (texts.get(block.textId) === id) texts.delete(block.textId);
    },
  });
  const requests = new LRUCache<string, readonly Position[]>({ max: MAX_REQUESTS });
  /** The newest request of each conversation. */
  const lastOf = new LRUCache<string, readonly Position[]>({ max: MAX_CONVERSATIONS });
  let lastRequestId: string | undefined;
  // The compressor's own classes: a handful.
  const kinds = new Map<string, { tokensBefore: number; tokensAfter: number }>();
  const changes = createChangeCounts();
  const isKept = (id: string | undefined, { before, after }: ChangedBlock): id is string => {
    const kept = id === undefined ? undefined : blocks.peek(id);
    return kept?.before === before && kept.after === after;
  };
  return {
    /** Counts a block of a request, changed or not, under its class. */
    count(kind: string, tokensBefore: number, tokensAfter: number): void {
      let sums = kinds.get(kind);
      if (sums === undefined) {
        sums = { tokensBefore: 0, tokensAfter: 0 };
        kinds.set(kind, sums);
      }
      sums.tokensBefore += tokensBefore;
      sums.tokensAfter += tokensAfter;
    },
    /** Returns the sums of each class, largest first. */
    byKind: (): readonly KindTokens[] =>
      [...kinds]
        .map(([kind, sums]) => ({ kind, ...sums }))
        .toSorted((a, b) => b.tokensBefore - a.tokensBefore),
    /** Returns what each recipe and rule has changed since the start. */
    changes: changes.list,
    /** Stores the changed blocks of a request. */
    keep(requestId: string, conversation: string, changed: readonly ChangedBlock[]): void {
      if (changed.length === 0) return;
      changes.add(changed);
      // Comparing a text with that of the turn before is faster than hashing it.
      const before = new Map(lastOf.get(conversation)?.map(({ id, index }) => [index, id]));
      const positions = changed.map((block) => {
        const idBefore = before.get(block.index);
        const id = isKept(idBefore, block) ? idBefore : idOf(block);
        // A block still used by a running conversation is not the oldest.
        let storedBlock = blocks.get(id);
        if (storedBlock === undefined) {
          storedBlock = Object.freeze({ ...block, id, textId: textId(block.before) });
          blocks.set(id, storedBlock);
        }
        // A block larger than the whole limit is not stored.
        if (blocks.has(id)) {
          texts.set(storedBlock.textId, id);
        }
        return { id, index: block.index };
      });
      requests.set(requestId, positions);
      lastOf.set(conversation, positions);
      lastRequestId = requestId;
    },
    /** Returns the changed blocks of a request; undefined if nothing of it is stored (any more). */
    ofRequest: (requestId: string): readonly KeptBlock[] | undefined =>
      requests.get(requestId)?.flatMap(({ id, index }) => {
        const block = blocks.get(id);
        return block === undefined ? [] : [{ ...block, index }];
      }),
    /**
     * Returns one block by its id, or by that of its text; its index is that in the first request
     * that had it.
     */
    get: (id: string): KeptBlock | undefined => blocks.get(id) ?? blocks.get(texts.get(id) ?? ''),
    /** The latest request with a change. */
    get lastRequestId(): string | undefined {
      return lastRequestId;
    },
  };
}
