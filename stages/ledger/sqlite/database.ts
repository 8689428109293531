/**
 * The ledger for reading: typed queries over a read-only connection. Queries are Kysely's, so that
 * another dialect can have the same type.
 */
import { CamelCasePlugin, Kysely, SqliteDialect } from 'kysely';
import type { LedgerReader, LedgerSchema } from '../tables.ts';
import { OWN_CURES } from '../version.ts';
import { openReadOnly } from './connection.ts';

/**
 * Opens the SQLite file for reading on this thread, which suits the command line: a query over many
 * rows takes a while. Throws as `openReadOnly` does.
 */
export function openLedgerReader(file: string, cures = OWN_CURES): LedgerReader {
  return new Kysely<LedgerSchema>({
    dialect: new SqliteDialect({ database: openReadOnly(file, cures) }),
    plugins: [new CamelCasePlugin()],
  });
}
