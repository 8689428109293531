/** The cost of missed provider caches, by cause, from the rows that are still kept. */
import { sql } from 'kysely';
import type { MissCause } from '../model/cached-turn.ts';
import { inSpan } from './sums.ts';
import type { TimeSpan } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/** The misses of one cause. */
export interface CauseSums {
  readonly cause: MissCause;
  readonly requests: number;
  readonly missedTokens: number;
  /** What reading those tokens from the cache would have saved, for requests with a known price. */
  readonly costNanoUsd: number;
  /** Requests without a known price. */
  readonly unpriced: number;
}

/** All misses of a span, and the totals they are part of. */
export interface MissReport {
  /** Most expensive first. */
  readonly byCause: readonly CauseSums[];
  /** Requests with a known amount of cache reads. */
  readonly requests: number;
  /** Input tokens of these, and the cost of all of them. */
  readonly inputTokens: number;
  readonly costNanoUsd: number;
}

/** Returns the misses of the rows that are still kept. */
export async function missReport(db: LedgerReader, span: TimeSpan): Promise<MissReport> {
  const [byCause, all] = await Promise.all([
    inSpan(db, span)
      .where('cacheMiss', 'is not', null)
      .select((eb) => [
        eb.ref('cacheMiss').$notNull().as('cause'),
        eb.fn.countAll<number>().as('requests'),
        sql<number>`coalesce(sum(cache_missed_tokens), 0)`.as('missedTokens'),
        sql<number>`coalesce(sum(cost_cache_missed_nano_usd), 0)`.as('costNanoUsd'),
        sql<number>`sum(CASE WHEN cost_cache_missed_nano_usd IS NULL THEN 1 ELSE 0 END)`.as(
          'unpriced',
        ),
      ])
      .groupBy('cacheMiss')
      .execute(),
    inSpan(db, span)
      .where('cacheReadTokens', 'is not', null)
      .select((eb) => [
        eb.fn.countAll<number>().as('requests'),
        sql<number>`coalesce(sum(input_tokens_sent), 0)`.as('inputTokens'),
        sql<number>`coalesce(sum(cost_nano_usd), 0)`.as('costNanoUsd'),
      ])
      .executeTakeFirstOrThrow(),
  ]);
  const mostExpensive = byCause.toSorted(
    (a, b) =>
      b.costNanoUsd - a.costNanoUsd ||
      b.missedTokens - a.missedTokens ||
      b.requests - a.requests ||
      a.cause.localeCompare(b.cause),
  );
  return { byCause: mostExpensive, ...all };
}
