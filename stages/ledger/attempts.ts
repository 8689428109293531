/** What went wrong below answers that clients got all the same, from the rows that are still kept. */
import { sql } from 'kysely';
import { matching } from './sums.ts';
import type { RowFilter } from './sums.ts';
import type { LedgerReader } from './tables.ts';

/** Sums over requests. */
export interface AttemptSums {
  /** Tries at providers after which the request went on to another key or provider, or failed. */
  readonly failedAttempts: number;
  /** Requests that were answered after at least one such try. */
  readonly answeredLater: number;
  /** Thoughts that providers say they have not shown to the model. */
  readonly thoughtsDropped: number;
  /** Requests whose thoughts a provider refused at first. */
  readonly thoughtsRefused: number;
}

/** The sums of what `filter` lets through. A request that asked for thoughts to be left out was tried once more, and counts here too. */
export async function attemptSums(db: LedgerReader, filter: RowFilter): Promise<AttemptSums> {
  // The last try of what failed has failed too.
  const failed = sql<number>`coalesce(sum(CASE WHEN outcome = 'error' THEN attempts WHEN attempts > 0 THEN attempts - 1 ELSE 0 END), 0)`;
  const later = sql<number>`coalesce(sum(CASE WHEN outcome = 'ok' AND attempts > 1 THEN 1 ELSE 0 END), 0)`;
  return matching(db, filter)
    .select([
      failed.as('failedAttempts'),
      later.as('answeredLater'),
      sql<number>`coalesce(sum(thoughts_dropped), 0)`.as('thoughtsDropped'),
      sql<number>`coalesce(sum(thoughts_refused), 0)`.as('thoughtsRefused'),
    ])
    .executeTakeFirstOrThrow();
}
