/** Opens a ledger for reading, wherever it is; code for the other kind is not loaded. */
import { isPostgresUrl } from './address.ts';
import type { LedgerReader } from './tables.ts';

/**
 * For a program that waits for its results. Throws as `openReadOnly` does; for a database, the
 * first query does.
 */
export async function openReader(db: string): Promise<LedgerReader> {
  if (!isPostgresUrl(db)) return (await import('./sqlite/database.ts')).openLedgerReader(db);
  return (await import('./postgres/reader.ts')).openPostgresReader(db);
}

/** For a server, which must not block: a file is read by a thread, opened by the first query. */
export async function openServerReader(db: string): Promise<LedgerReader> {
  if (!isPostgresUrl(db))
    return (await import('./sqlite/reader-thread.ts')).openThreadedLedgerReader(db);
  return openReader(db);
}
