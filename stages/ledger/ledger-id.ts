/** Identifies a ledger: reached through two addresses or from two machines, it is counted once. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { sql } from 'kysely';
import { isPostgresUrl } from './address.ts';
import type { LedgerReader } from './tables.ts';

/**
 * Returns the id of the ledger at `db`; a file is identified on the machine `host`. Null if there
 * is none.
 */
export async function ledgerId(
  db: string,
  host: string,
  reader: LedgerReader,
): Promise<string | null> {
  if (!isPostgresUrl(db)) return fileId(db, host);
  const { rows } = await sql<{ ledgerId: string }>`SELECT ledger_id FROM svc_ledger`.execute(
    reader,
  );
  return rows[0]?.ledgerId ?? null;
}

/** Returns the id of an existing file, which reveals neither the file nor the host. */
export function fileId(file: string, host: string): string | null {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const { dev, ino, birthtimeNs } = stat;
  const facts = [host, realpathSync(file), dev, ino, birthtimeNs].map(String);
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 32);
}
