/** An answer that was kept, and the store that keeps it. */
import type { KeptAnswer } from '../model/kept-answer.ts';

export type { KeptAnswer } from '../model/kept-answer.ts';

export interface AnswerStats {
  readonly hits: number;
  readonly misses: number;
  /** Hits by lookups, from 0 to 1; `null` before the first lookup. */
  readonly hitRatio: number | null;
  readonly entries: number;
  /** What the entries take, in bytes, with their header fields. */
  readonly bytes: number;
  /** Answers that could not be written or read back. The requests did not notice. */
  readonly failures: number;
}

/** How much is kept, and how long. */
export interface AnswerBounds {
  readonly maxBytes: number;
  /** How long an answer may be given again. */
  readonly ttlMs: number;
}

/** Answers by key (`answerKey`): least recently used first out, and none older than its time. */
export interface AnswerStore {
  /** Undefined on a miss. Never rejects: an entry that cannot be read is a miss. */
  get(key: string): KeptAnswer | undefined | Promise<KeptAnswer | undefined>;
  /** Keeps a copy; returns at once and never throws. An answer over a quarter of the store is not kept. */
  put(key: string, answer: KeptAnswer): void;
  stats(): AnswerStats;
  /** Takes over new bounds; what is over them goes. */
  configure(bounds: AnswerBounds): void;
  /** Forgets every answer; resolves when they are gone. */
  clear(): Promise<void>;
  /** Resolves when everything that was put is kept. */
  settled(): Promise<void>;
}

/** The part of a store that one answer may take. */
const LARGEST_PART = 4;

/** The largest answer that a store of `maxBytes` keeps. */
export function largestAnswer(maxBytes: number): number {
  return Math.floor(maxBytes / LARGEST_PART);
}

/** Fields of one exchange: sent again they would tell a client of limits, cookies and ids that are not its own. */
const OF_ONE_RESPONSE =
  /^(?:set-cookie2?|date|age|server-timing|retry-after(?:-ms)?|content-length|cf-ray|alt-svc)$|ratelimit|(?:request-?id|trace-?id|processing-ms)$/;

/** True for a response field (lower case) that is kept with an answer. */
export function isKeptHeader(lowerName: string): boolean {
  return !OF_ONE_RESPONSE.test(lowerName);
}

/** What is counted for an entry beside its body: field names and values, key and bookkeeping. */
export function answerBytes(answer: KeptAnswer): number {
  let bytes = 512;
  for (const field of answer.headers) bytes += field.length;
  for (const chunk of answer.chunks) bytes += chunk.length + 64;
  return bytes;
}

/** Hits and misses, counted from zero and alike in every store. */
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
