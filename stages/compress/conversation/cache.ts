/**
 * A cache of compressed texts. It saves time and nothing else: keys cover all that the
 * result depends on, so a full, empty or absent cache gives the same bytes.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Applied, ApplyContext } from '../rewrite.ts';

/** Results by content. */
export type BlockCache = ReturnType<typeof createBlockCache>;

/** Room for results, in characters of output, whatever the number of entries. */
const MAX_CHARS = 32_000_000;

/** A cache of at most `maxEntries` results; 0 gives one that never holds anything. */
export function createBlockCache(maxEntries: number) {
  const store =
    maxEntries > 0
      ? new LRUCache<string, Applied>({
          max: maxEntries,
          maxSize: MAX_CHARS,
          sizeCalculation: (value) => value.text.length + 200,
        })
      : undefined;
  let hits = 0;
  let misses = 0;
  return {
    /** `rulesId` is that of the `Rewriter`. */
    keyOf,
    get(key: string): Applied | undefined {
      const found = store?.get(key);
      if (found === undefined) misses++;
      else hits++;
      return found;
    },
    set: (key: string, value: Applied): void => void store?.set(key, value),
    get entries(): number {
      return store?.size ?? 0;
    },
    get sizeBytes(): number {
      return (store?.calculatedSize ?? 0) * 2;
    },
    get hits(): number {
      return hits;
    },
    get misses(): number {
      return misses;
    },
  };
}

function keyOf(text: string, context: ApplyContext, rulesId: string): string {
  const { mode, query, maxChars, logBudgetTokens, hints, commentLines, applied } = context;
  const hasCode = commentLines !== undefined;
  const { linesBefore, linesAfter } = context;
  const position = [linesBefore, linesAfter];
  const rest = [
    mode,
    query,
    maxChars,
    logBudgetTokens,
    hints,
    hasCode,
    applied?.id,
    position,
    rulesId,
  ];
  return createHash('sha1')
    .update(JSON.stringify(rest))
    .update('\u0000')
    .update(text)
    .digest('base64');
}
