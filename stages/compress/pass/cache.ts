/**
 * A cache of compressed texts. It only saves time: keys cover everything the result depends on, so
 * a full, empty or absent cache gives the same bytes.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Applied, ApplyContext, Rewriter } from '../rules/rewrite.ts';

export interface CacheFigures {
  readonly entries: number;
  readonly sizeBytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** Compressed results, by content. */
export type BlockCache = ReturnType<typeof createBlockCache>;

/** Capacity in characters of output, whatever the number of entries. */
const MAX_CHARS = 32_000_000;

/** Creates a cache of at most `maxEntries` results; with 0 it stores nothing. */
export function createBlockCache(maxEntries: number) {
  const store =
    maxEntries > 0
      ? new LRUCache<string, Applied>({
          max: maxEntries,
          maxSize: MAX_CHARS,
          sizeCalculation: (value) => value.text.length + 200,
        })
      : undefined;
  let [hits, misses] = [0, 0];
  return {
    /** Returns the rewriter's result for the text, from the cache if possible. */
    apply(rewriter: Rewriter, text: string, context: ApplyContext): Applied {
      const key = keyOf(text, context, rewriter.id);
      const known = store?.get(key);
      if (known !== undefined) {
        hits++;
        return known;
      }
      misses++;
      const applied = rewriter.apply(text, context);
      store?.set(key, applied);
      return applied;
    },
    /** Number of lookups. */
    asked: (): number => hits + misses,
    /**
     * Counts results that need no lookup because the beginning of the conversation is already
     * processed.
     */
    addHits(count: number): void {
      hits += count;
    },
    figures: (): CacheFigures => ({
      entries: store?.size ?? 0,
      sizeBytes: (store?.calculatedSize ?? 0) * 2,
      hits,
      misses,
    }),
  };
}

function keyOf(text: string, context: ApplyContext, rulesId: string): string {
  const { mode, query, maxChars, logBudgetTokens, hints, commentLines, applied } = context;
  const { linesBefore, linesAfter, foldsProse = false } = context;
  const sizes = [maxChars, logBudgetTokens, linesBefore, linesAfter, foldsProse];
  const keyParts = [mode, query, sizes, hints, commentLines !== undefined, applied?.id, rulesId];
  return createHash('sha1')
    .update(JSON.stringify(keyParts))
    .update('\u0000')
    .update(text)
    .digest('base64');
}
