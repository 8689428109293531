/** What tells a ledger from all others: whoever meets it twice, at two addresses or from two machines, counts it once. */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { sql } from 'kysely';
import { isPostgresUrl } from './address.ts';
import type { LedgerReader } from './tables.ts';

/** The id of the ledger at `db`, as it is on the machine `host` where it is a file; null where there is none. */
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

/** Of a file while it lies there. It says nothing of either. */
export function fileId(file: string, host: string): string | null {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const { dev, ino, birthtimeNs } = stat;
  const facts = [host, realpathSync(file), dev, ino, birthtimeNs].map(String);
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 32);
}
