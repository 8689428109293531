/** A cached response, and the interface of its store. */
import type { KeptAnswer } from '../model/kept-answer.ts';

export type { KeptAnswer } from '../model/kept-answer.ts';

export interface AnswerStats {
  readonly hits: number;
  readonly misses: number;
  /** Hits per look-up, from 0 to 1; `null` before the first one. */
  readonly hitRatio: number | null;
  readonly entries: number;
  /** Size of the entries in bytes, including their headers. */
  readonly bytes: number;
  /** Answers that could not be written or read back. The requests were not affected. */
  readonly failures: number;
}

/** How many bytes the store may hold, and for how long. */
export interface AnswerBounds {
  readonly maxBytes: number;
  /** How long an answer may be reused. */
  readonly ttlMs: number;
}

/** Answers by key (`answerKey`), evicted least recently used first or when expired. */
export interface AnswerStore {
  /** Returns undefined on a miss. Never rejects: an unreadable entry is a miss. */
  get(key: string): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
  /**
   * Stores a copy; returns at once and never throws. An answer larger than a quarter of the store
   * is not stored.
   */
  put(key: string, answer: KeptAnswer): void;
  stats(): AnswerStats;
  /** Applies new bounds; entries beyond them are evicted. */
  configure(bounds: AnswerBounds): void;
  /** Removes every answer; resolves when they are gone. */
  clear(): Promise<void>;
  /** Resolves when every `put` so far is stored. */
  settled(): Promise<void>;
}

/** The largest answer accepted is the size of the store divided by this. */
const MAX_ANSWER_DIVISOR = 4;

/** Returns the size of the largest answer that a store of `maxBytes` accepts. */
export function largestAnswer(maxBytes: number): number {
  return Math.floor(maxBytes / MAX_ANSWER_DIVISOR);
}

/**
 * Headers that belong to a single exchange: replayed, they would give a client limits, cookies and
 * ids of another request.
 */
const SINGLE_EXCHANGE_HEADER =
  /^(?:set-cookie2?|date|age|server-timing|retry-after(?:-ms)?|content-length|cf-ray|alt-svc)$|ratelimit|(?:request-?id|trace-?id|processing-ms)$/;

/** Returns true for a response header (lower case) that is stored with an answer. */
export function isKeptHeader(lowerName: string): boolean {
  return !SINGLE_EXCHANGE_HEADER.test(lowerName);
}

/** Returns the size of an entry: its body, header names and values, key and bookkeeping. */
export function answerBytes(answer: KeptAnswer): number {
  let bytes = 512;
  for (const field of answer.headers) bytes += field.length;
  for (const chunk of answer.chunks) bytes += chunk.length + 64;
  return bytes;
}

/** Counts hits and misses from zero, the same way in every store. */
export function createLookupCount() {
  let hits = 0;
  let misses = 0;
  return {
    add(isHit: boolean): void {
      if (isHit) hits += 1;
      else misses += 1;
    },
    view: (): Pick<AnswerStats, 'hits' | 'misses' | 'hitRatio'> => ({
      hits,
      misses,
      hitRatio: hits + misses === 0 ? null : hits / (hits + misses),
    }),
  };
}
