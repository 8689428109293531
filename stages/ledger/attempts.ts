/**
 * Failed attempts behind answers that clients got nevertheless, from the rows that are still kept.
 */
import { sql } from 'kysely';
import { selectMatching } from './sums.ts';
import type { RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/** Sums over requests. */
export interface AttemptSums {
  /** Attempts at providers after which the request moved to another key or provider, or failed. */
  readonly failedAttempts: number;
  /** Requests that were answered after at least one such attempt. */
  readonly answeredLater: number;
  /** Thinking blocks that providers report as not shown to the model. */
  readonly thoughtsDropped: number;
  /** Requests whose thinking blocks a provider refused at first. */
  readonly thoughtsRefused: number;
}

/**
 * Returns the sums over the rows that match `filter`. A request repeated without its thinking
 * blocks made one more attempt, and counts here too.
 */
export async function attemptSums(db: LedgerReader, filter: RowFilter): Promise<AttemptSums> {
  // The last attempt of a failed request has failed too.
  const failed = sql<number>`coalesce(sum(CASE WHEN outcome = 'error' THEN attempts WHEN attempts > 0 THEN attempts - 1 ELSE 0 END), 0)`;
  const later = sql<number>`coalesce(sum(CASE WHEN outcome = 'ok' AND attempts > 1 THEN 1 ELSE 0 END), 0)`;
  return selectMatching(db, filter)
    .select([
      failed.as('failedAttempts'),
      later.as('answeredLater'),
      sql<number>`coalesce(sum(thoughts_dropped), 0)`.as('thoughtsDropped'),
      sql<number>`coalesce(sum(thoughts_refused), 0)`.as('thoughtsRefused'),
    ])
    .executeTakeFirstOrThrow();
}
