/** Opens a ledger for reading, wherever it is; what the other kind needs is not loaded. */
import { isPostgresUrl } from './address.ts';
import type { LedgerReader } from './tables.ts';

/** For a program that waits for its answers. Throws as `openReadOnly` does, of a database with the first question. */
export async function openReader(db: string): Promise<LedgerReader> {
  if (!isPostgresUrl(db)) return (await import('./sqlite/database.ts')).openLedgerReader(db);
  return (await import('./postgres/reader.ts')).openPostgresReader(db);
}

/** For a server, which goes on meanwhile: a file is read by a thread, opened by the first question. */
export async function openServerReader(db: string): Promise<LedgerReader> {
  if (!isPostgresUrl(db))
    return (await import('./sqlite/reader-thread.ts')).openThreadedLedgerReader(db);
  return openReader(db);
}
