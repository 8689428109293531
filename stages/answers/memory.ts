/** Kept answers in memory: least recently used out first, by bytes, and none older than its time. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/index.ts';
import { answerBytes, createLookupCount, largestAnswer } from './answer.ts';
import type { AnswerStore, KeptAnswer } from './answer.ts';

export interface MemoryAnswersOptions {
  readonly maxBytes: number;
  /** How long an answer may be given again. */
  readonly ttlMs: number;
  readonly clock: Clock;
}

interface Entry {
  readonly answer: KeptAnswer;
  readonly keptAtMs: number;
}

/** An empty store in this process's memory. */
export function createMemoryAnswers(options: MemoryAnswersOptions): AnswerStore {
  const { clock, ttlMs } = options;
  const lookups = createLookupCount();
  // The time is checked here and not by the cache, whose clock cannot be passed in wholly.
  const entries = new LRUCache<string, Entry>({
    maxSize: Math.max(1, options.maxBytes),
    maxEntrySize: Math.max(1, largestAnswer(options.maxBytes)),
    sizeCalculation: ({ answer }) => answerBytes(answer),
  });
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
      if (answerBytes(answer) > largestAnswer(options.maxBytes)) return;
      entries.set(key, { answer: detached(answer), keptAtMs: clock.monotonicMs() });
    },
    stats: () => ({
      ...lookups.view(),
      entries: entries.size,
      bytes: entries.calculatedSize,
      failures: 0,
    }),
    async clear() {
      entries.clear();
    },
    async settled() {
      // What is put is there at once.
    },
  };
}

/** The same pieces in one allocation of their own: a piece may be a slice of a much larger read. */
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
