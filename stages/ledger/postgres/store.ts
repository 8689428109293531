/**
 * The ledger in Postgres, opened for writing: the counterpart of `sqlite/store.ts`. Several proxies
 * may write at once. Runs inside the writer thread.
 */
import { randomBytes } from 'node:crypto';
import type { Migration } from '../migrations.ts';
import { APPLICATION_ID } from '../tables.ts';
import { LedgerRefused } from '../writer/problem.ts';
import type { LedgerStore } from '../writer/writing-thread.ts';
import { connect, readSchema, refusalOf } from './client.ts';
import type { Connection, DatabaseSchema } from './client.ts';
import {
  createVersionTable,
  PRUNE,
  STORE_ROWS,
  toColumns,
  toPostgres,
  VERSION_TABLE,
} from './schema.ts';
import { isContentFault } from './query-errors.ts';

/** Proxies that start together make or change the tables one after the other. */
const LOCK = `SELECT pg_advisory_xact_lock(${APPLICATION_ID}, hashtext(current_schema()))`;

/**
 * Another program has changed the schema since the connection was opened: it must be checked again.
 */
export class SchemaChanged extends Error {
  constructor() {
    super('the tables were changed by another svc');
    this.name = 'SchemaChanged';
  }
}

/**
 * Connects, and makes or changes the tables. Rejects with `LedgerRefused` if they are not ours to
 * write.
 */
export async function openPostgres(
  url: string,
  migrations: readonly Migration[],
  onLost: () => void,
): Promise<LedgerStore> {
  const connection = await connect(url, onLost);
  try {
    const { version, tables, isReadOnly } = await readSchema(connection);
    const isReady = version === migrations.length && tables.length === 3 && !isReadOnly;
    // While another proxy makes the tables, some of them are visible before the others.
    if (!isReady) await migrate(connection, url, migrations);
    return toStore(connection, migrations.length);
  } catch (error) {
    connection.close();
    throw error;
  }
}

function check(found: DatabaseSchema, url: string, known: number): void {
  const refusal = refusalOf(found, url, known);
  if (refusal !== undefined) throw new LedgerRefused(refusal.message, refusal.cure);
  if (found.isReadOnly) throw Object.assign(new Error('it is read-only'), { code: '25006' });
  if (found.version > 0 && found.tables.length < 3)
    throw new Error(`of its tables only ${found.tables.join(' and ')} are there`);
}

async function migrate(
  connection: Connection,
  url: string,
  migrations: readonly Migration[],
): Promise<void> {
  await connection.query('BEGIN');
  await connection.query(LOCK);
  const found = await readSchema(connection);
  check(found, url, migrations.length);
  if (found.version === migrations.length) return void (await connection.query('COMMIT'));
  const isNew = found.version === 0;
  if (isNew) await connection.query(createVersionTable);
  // A writer that stores rows holds this lock, so this waits for it.
  else await connection.query(`SELECT 1 FROM ${VERSION_TABLE} FOR UPDATE`);
  for (const step of migrations.slice(found.version))
    for (const sql of toPostgres(step)) await connection.change(sql);
  await (isNew
    ? connection.query(`INSERT INTO ${VERSION_TABLE} (version, ledger_id) VALUES ($1, $2)`, [
        migrations.length,
        randomBytes(16).toString('hex'),
      ])
    : connection.query(`UPDATE ${VERSION_TABLE} SET version = $1`, [migrations.length]));
  await connection.query('COMMIT');
}

function toStore(connection: Connection, version: number): LedgerStore {
  return {
    async insert(cells) {
      const { rows } = await connection.query(STORE_ROWS, [version, ...toColumns(cells)]);
      const [{ held } = { held: 0 }] = rows as { readonly held: number }[];
      if (held === 0) throw new SchemaChanged();
    },
    isContentFault,
    async prune(beforeMs, max) {
      const { rowCount } = await connection.query(PRUNE, [beforeMs, max]);
      return rowCount ?? 0;
    },
    close: () => connection.close(),
  };
}
