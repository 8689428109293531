/** Cached responses in memory: evicted by bytes, least recently used first, or when expired. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/index.ts';
import { answerBytes, createLookupCount, largestAnswer } from './answer.ts';
import type { AnswerBounds, AnswerStore, KeptAnswer } from './answer.ts';

export interface MemoryAnswersOptions extends AnswerBounds {
  readonly clock: Clock;
}

interface Entry {
  readonly answer: KeptAnswer;
  readonly keptAtMs: number;
}

/** Creates an empty store in this process's memory. */
export function createMemoryAnswers(options: MemoryAnswersOptions): AnswerStore {
  const { clock } = options;
  const lookups = createLookupCount();
  let { maxBytes, ttlMs } = options;
  let entries = emptyCache(maxBytes);
  return {
    get(key) {
      let entry = entries.get(key);
      if (entry !== undefined && clock.monotonicMs() - entry.keptAtMs >= ttlMs) {
        entries.delete(key);
        entry = undefined;
      }
      lookups.add(entry !== undefined);
      return entry?.answer;
    },
    put(key, answer) {
      if (answerBytes(answer) > largestAnswer(maxBytes)) return;
      entries.set(key, { answer: detached(answer), keptAtMs: clock.monotonicMs() });
    },
    stats: () => ({
      ...lookups.view(),
      entries: entries.size,
      bytes: entries.calculatedSize,
      failures: 0,
    }),
    configure(bounds) {
      ttlMs = bounds.ttlMs;
      if (bounds.maxBytes === maxBytes) return;
      maxBytes = bounds.maxBytes;
      const former = entries.dump();
      entries = emptyCache(maxBytes);
      entries.load(former);
    },
    async clear() {
      entries.clear();
    },
    async settled() {
      // `put` is synchronous.
    },
  };
}

/** The store checks ages itself, because the clock of the cache cannot be fully injected. */
function emptyCache(maxBytes: number): LRUCache<string, Entry> {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    maxEntrySize: Math.max(1, largestAnswer(maxBytes)),
    sizeCalculation: ({ answer }) => answerBytes(answer),
  });
}

/**
 * Copies the pieces into one allocation of their own: a piece may be a slice of a much larger
 * buffer.
 */
function detached(answer: KeptAnswer): KeptAnswer {
  const bytes = Buffer.concat(answer.chunks);
  let start = 0;
  const chunks = answer.chunks.map((chunk) => {
    const piece = bytes.subarray(start, start + chunk.length);
    start += chunk.length;
    return piece;
  });
  return Object.freeze({ ...answer, headers: [...answer.headers], chunks: Object.freeze(chunks) });
}
