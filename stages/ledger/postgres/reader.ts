/**
 * The ledger in Postgres for reading: the same queries as for a file, over connections that are
 * opened on demand. Queries are asynchronous, so no thread is needed.
 */
import type { CompiledQuery, DatabaseConnection, Driver, KyselyPlugin, QueryResult } from 'kysely';
import {
  CamelCasePlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { SvcError } from '../../../engine/index.ts';
import { ledgerName } from '../address.ts';
import { refuseStream, refuseTransaction } from '../read-only.ts';
import type { LedgerReader, LedgerSchema } from '../tables.ts';
import { assertVersion, OWN_CURES } from '../version.ts';
import { readSchema, openPool } from './client.ts';
import type { DatabaseSchema, Pool, PooledConnection } from './client.ts';
import { toPostgresText } from './schema.ts';
import { isOurFault, readError, stateOf } from './query-errors.ts';

const CLOSE_MS = 2000;

/**
 * Opens the ledger of `url`. Queries reject with `not_found` if there is none yet, `config` if it
 * has another version, `unavailable` (RESOURCE_002) if the database does not respond; later queries
 * try again.
 */
export function openPostgresReader(url: string): LedgerReader {
  return new Kysely<LedgerSchema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PoolDriver(url),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [new CamelCasePlugin(), withoutRowNumbers],
  });
}

/** Returns what is at `url`. Rejects with `unavailable` if nothing responds. */
export async function inspectPostgres(url: string): Promise<DatabaseSchema> {
  const pool = await openPool(url);
  try {
    return await readSchema(pool);
  } catch (error) {
    throw readError(error, url);
  } finally {
    await pool.end();
  }
}

/** In a file the row numbers are not visible. */
const withoutRowNumbers: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    if (result.rows[0]?.['rowid'] !== undefined) for (const row of result.rows) delete row['rowid'];
    return result;
  },
};

class PoolDriver implements Driver {
  readonly #url: string;
  #pool: Promise<Pool> | undefined;
  /** Connections already checked to lead to a ledger of ours. */
  readonly #checked = new WeakSet<PooledConnection>();

  constructor(url: string) {
    this.#url = url;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    try {
      this.#pool ??= openPool(this.#url);
      const client = await (await this.#pool).connect();
      await this.#check(client);
      return new PoolConnection(client, this.#url);
    } catch (error) {
      throw error instanceof SvcError ? error : readError(error, this.#url);
    }
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PoolConnection) connection.release();
  }

  beginTransaction = refuseTransaction;
  commitTransaction = refuseTransaction;
  rollbackTransaction = refuseTransaction;

  /** Does not wait long for pending queries: the server may be gone. */
  async destroy(): Promise<void> {
    const pool = await this.#pool;
    if (pool === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([pool.end(), isOver]);
    clearTimeout(timer);
  }

  async #check(client: PooledConnection): Promise<void> {
    if (this.#checked.has(client)) return;
    try {
      assertOurs(await readSchema(client), this.#url);
      this.#checked.add(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

class PoolConnection implements DatabaseConnection {
  readonly #client: PooledConnection;
  readonly #url: string;
  #isBroken = false;

  constructor(client: PooledConnection, url: string) {
    this.#client = client;
    this.#url = url;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const values = parameters.map((one) => (typeof one === 'string' ? toPostgresText(one) : one));
      const { rows } = await this.#client.query(sql, values);
      return { rows: rows as R[] };
    } catch (error) {
      this.#isBroken ||= stateOf(error) === undefined;
      throw isOurFault(error) ? error : readError(error, this.#url);
    }
  }

  streamQuery = refuseStream;

  release(): void {
    this.#client.release(this.#isBroken);
  }
}

function assertOurs({ version }: DatabaseSchema, url: string): void {
  const name = ledgerName(url);
  if (version === 0)
    throw new SvcError('not_found', `There is no ledger at ${name}`, {
      cure: 'It is created when the proxy starts: svc serve',
    });
  assertVersion(name, version, OWN_CURES);
}
