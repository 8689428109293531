/**
 * Connections to the database of a URL. The driver is loaded here on first use: a ledger in a file
 * does not need it.
 */
import { ledgerName } from '../address.ts';
import { newerText } from '../version.ts';
import { OLDEST_SERVER, VERSION_TABLE } from './schema.ts';

/**
 * The queries of a connection. The driver's own types are not installed for users of this package.
 */
export interface Queryable {
  query(
    sql: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly rowCount: number | null }>;
}

export interface Connection extends Queryable {
  /** Runs a statement that may take longer than that of a batch: changes to the tables. */
  change(sql: string): Promise<unknown>;
  /** Does not wait for an unresponsive server. */
  close(): void;
}

export interface PooledConnection extends Queryable {
  /** Returns it to the pool, or ends it. */
  release(ends: boolean): void;
}

export interface Pool extends Queryable {
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
}

/** Timeout for connecting, including the look-up of the host and TLS. */
const CONNECT_MS = 5000;
/** Timeout for a statement: its server may be gone without notice. */
const STATEMENT_MS = 15_000;
const QUERY_MS = 60_000;
const CHANGE_MS = 3_600_000;
/** Concurrent queries of a server; each takes a connection, and the database has few of them. */
const MAX_CONNECTIONS = 4;
const IDLE_MS = 30_000;

const INT8 = 20;
const NUMERIC = 1700;

async function driver() {
  const { default: pg } = await import('pg');
  return pg;
}

type Driver = Awaited<ReturnType<typeof driver>>;

function settingsFor(pg: Driver, url: string, statementMs: number) {
  return {
    connectionString: withVerifiedSsl(url),
    // A pooler in front of the server accepts this parameter, and hardly any other.
    application_name: 'svc',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs,
    keepAlive: true,
    types: {
      // Counts, sums and money are far below where numbers lose precision.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC
          ? Number
          : (pg.types.getTypeParser as (...of: unknown[]) => (text: string) => unknown)(
              oid,
              format,
            ),
    },
  };
}

/**
 * The driver treats three values of `sslmode` as `verify-full` and prints a warning that this will
 * change, so it is given that value.
 */
function withVerifiedSsl(url: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** Opens one connection; `onLost` is called once if it breaks while idle. */
export async function connect(url: string, onLost: () => void): Promise<Connection> {
  const pg = await driver();
  const client = new pg.Client(settingsFor(pg, url, STATEMENT_MS));
  // Without a listener it would end the thread; pending queries then fail by themselves.
  client.on('error', () => undefined);
  client.once('end', onLost);
  await client.connect();
  return {
    query: (sql, values) => client.query(sql, values),
    change(sql) {
      const query = { text: sql, query_timeout: CHANGE_MS };
      return client.query(query);
    },
    close() {
      client.off('end', onLost);
      void client.end().catch(() => undefined);
    },
  };
}

/** Opens connections for queries. */
export async function openPool(url: string): Promise<Pool> {
  const pg = await driver();
  const pool = new pg.Pool({
    ...settingsFor(pg, url, QUERY_MS),
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  pool.on('error', () => undefined);
  return pool;
}

/** What the database has under the names that svc uses. */
export interface DatabaseSchema {
  /** Version of the schema; 0 if there is none of ours. */
  readonly version: number;
  readonly ledgerId: string | null;
  /** Tables with our names. */
  readonly tables: readonly string[];
  readonly serverVersion: number;
  readonly encoding: string;
  /** The schema in which unqualified tables are created; null for none. */
  readonly schema: string | null;
  readonly isReadOnly: boolean;
}

/**
 * Reads the catalogue directly: name resolution may have cached that the tables were missing before
 * the lock was acquired.
 */
const READ_CATALOGUE = `SELECT current_setting('server_version_num')::int / 10000 AS "serverVersion",
    current_setting('server_encoding') AS encoding,
    current_schema() AS schema,
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    ARRAY(SELECT relname::text FROM pg_catalog.pg_class
      WHERE relname IN ('requests', 'hours', '${VERSION_TABLE}') AND relkind <> 'i'
        AND pg_table_is_visible(oid) ORDER BY relname) AS tables`;

export async function readSchema(connection: Queryable): Promise<DatabaseSchema> {
  const [found] = (await connection.query(READ_CATALOGUE)).rows as Omit<
    DatabaseSchema,
    'version' | 'ledgerId'
  >[];
  if (found === undefined) throw new Error('the database gave no answer');
  if (!found.tables.includes(VERSION_TABLE)) return { ...found, version: 0, ledgerId: null };
  const { rows } = await connection.query(
    `SELECT version, ledger_id AS "ledgerId" FROM ${VERSION_TABLE}`,
  );
  const [own] = rows as Pick<DatabaseSchema, 'version' | 'ledgerId'>[];
  return { ...found, version: own?.version ?? 0, ledgerId: own?.ledgerId ?? null };
}

/** Returns why this program must not write there, with the cure; undefined if it may. */
export function refusalOf(
  found: DatabaseSchema,
  url: string,
  known: number,
): { readonly message: string; readonly cure: string } | undefined {
  const name = ledgerName(url);
  const { version, tables, serverVersion, encoding, schema } = found;
  if (version > known)
    return {
      message: newerText(name, version, known),
      cure: 'Update svc, or set SVC_DB to another database.',
    };
  if (serverVersion < OLDEST_SERVER)
    return {
      message: `The ledger ${name} is on PostgreSQL ${serverVersion}; ${OLDEST_SERVER} is needed`,
      cure: 'Update the database server.',
    };
  if (encoding !== 'UTF8')
    return {
      message: `The database ${name} keeps texts as ${encoding}, which cannot hold all of them`,
      cure: "Make another one: CREATE DATABASE svc ENCODING 'UTF8' TEMPLATE template0.",
    };
  if (schema === null)
    return {
      message: `The database ${name} has no schema for tables of this user`,
      cure: 'CREATE SCHEMA svc, and ALTER ROLE … SET search_path = svc.',
    };
  const [foreign] = version === 0 ? tables : [];
  if (foreign !== undefined)
    return {
      message: `${name} has a table ${foreign} that is not svc's`,
      cure: 'Set SVC_DB to a database of its own, or give svc a schema: `?options=-csearch_path%3Dsvc`.',
    };
  return undefined;
}
