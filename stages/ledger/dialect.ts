/** Which database answers, for the little that is not said in one way to both. */
import { PostgresAdapter } from 'kysely';
import type { LedgerReader } from './tables.ts';

export function isPostgres(db: LedgerReader): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
