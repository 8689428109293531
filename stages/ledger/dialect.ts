/** Which database is in use, for the few statements that differ. */
import { PostgresAdapter } from 'kysely';
import type { LedgerReader } from './tables.ts';

export function isPostgres(db: LedgerReader): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
