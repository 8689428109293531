/**
 * A Kysely driver whose connection is in a thread of its own. A sum over 100,000 rows takes some
 * 100 ms; on the main thread every stream would be blocked for that long.
 */
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import {
  CamelCasePlugin,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { SvcError } from '../../../engine/index.ts';
import { WorkerPool } from '../../threads/pool.ts';
import { refuseStream, refuseTransaction } from '../read-only.ts';
import type { LedgerReader, LedgerSchema } from '../tables.ts';

/** A query to the thread, and its rows. */
export interface ReaderProtocol {
  readonly job: { readonly sql: string; readonly parameters: readonly unknown[] };
  readonly result: readonly unknown[];
  readonly part: never;
  readonly event: never;
  readonly notice: never;
}

/**
 * Opens the ledger for a server: the same type as `openLedgerReader`, but queries run in another
 * thread, which starts with the first one. The file need not exist yet: a query then rejects with
 * what `openReadOnly` throws, and later ones try again. End the thread with `destroy()`.
 */
export function openThreadedLedgerReader(file: string): LedgerReader {
  const driver = new ThreadDriver(file);
  return new Kysely<LedgerSchema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    plugins: [new CamelCasePlugin()],
  });
}

class ThreadDriver extends DummyDriver implements DatabaseConnection {
  readonly #pool: WorkerPool<ReaderProtocol>;

  constructor(file: string) {
    super();
    this.#pool = new WorkerPool({
      entry: new URL('./reader-worker.js', import.meta.url),
      name: 'svc-ledger-reader',
      data: file,
    });
  }

  /** One connection serves all: each query is a job of its own. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }

  override beginTransaction = refuseTransaction;

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const end = await this.#pool.run({ sql: query.sql, parameters: query.parameters });
    if ('done' in end) return { rows: end.done as R[] };
    if (end.failed === 'threw') throw end.error;
    const cause = end.failed === 'died' ? end.cause : undefined;
    throw new SvcError('unavailable', 'The ledger could not be read', { cause });
  }

  streamQuery = refuseStream;

  override destroy(): Promise<void> {
    return this.#pool.close();
  }
}
