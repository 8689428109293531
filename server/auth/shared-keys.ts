/**
 * Proxy keys in the Postgres of a shared ledger, for `svc auth`: hashes, as in the home folder's
 * file. New keys are stored there. Keys of the home folder stay valid on their own proxy; the first
 * change of one moves it to the ledger, so that revoking it takes effect everywhere.
 */
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import type { Queryable } from '../../stages/ledger/postgres/client.ts';
import { connect } from '../../stages/ledger/postgres/client.ts';
import { migrations } from '../../stages/ledger/migrations.ts';
import { openPostgres } from '../../stages/ledger/postgres/store.ts';
import { describeQueryError, stateOf } from '../../stages/ledger/postgres/query-errors.ts';
import { LedgerRefused } from '../../stages/ledger/writer/problem.ts';
import { keyChanges, mergeKeys } from './key-changes.ts';
import type { Changed, KeyChange, KeyEdits, NewKey, RandomBytes, Rotation } from './key-changes.ts';
import { changeKeys, isStoredKey, readKeys } from './store.ts';
import type { StoredKey } from './store.ts';

const READ = 'SELECT stored FROM proxy_keys';
/** Readers do not wait; concurrent writers do. */
const LOCK = 'LOCK TABLE proxy_keys IN EXCLUSIVE MODE';
const KEEP = `INSERT INTO proxy_keys (id, stored) VALUES ($1, $2)
  ON CONFLICT (id) DO UPDATE SET stored = excluded.stored`;
const NO_TABLE = '42P01';

/**
 * Returns the texts of all keys, unordered; none if no svc has created the table yet. Rejects with
 * the database's error.
 */
export async function readSharedTexts(connection: Queryable): Promise<readonly string[]> {
  try {
    const { rows } = await connection.query(READ);
    return (rows as readonly { readonly stored: string }[]).map(({ stored }) => stored);
  } catch (error) {
    if (stateOf(error) === NO_TABLE) return [];
    throw error;
  }
}

/** Parses keys, oldest first. Throws `config` for an invalid one. */
export function toSharedKeys(texts: readonly string[]): readonly StoredKey[] {
  return texts
    .map(toKey)
    .toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created) || (a.id < b.id ? -1 : 1));
}

function toKey(text: string): StoredKey {
  const parsed = parsedOr(text);
  if (isStoredKey(parsed)) return parsed;
  throw new SvcError(
    'config',
    'The table proxy_keys of the ledger contains something that is not a key',
    {
      cure: 'Was it changed by hand? Delete or fix that row.',
    },
  );
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Opens the store of keys at `url`, with those of `file` in the home folder. It has the methods of
 * `openKeyStore`, as promises that reject with `unavailable` if the database cannot be reached.
 */
export function openSharedKeyStore(options: {
  url: string;
  file: string;
  clock: Clock;
  random: RandomBytes;
}) {
  const { url, file, clock } = options;
  const changes = keyChanges(options);
  const apply = <R>(change: KeyChange<R>): Promise<R> =>
    withConnection(url, async (connection) => {
      const home = readKeys(file);
      await connection.query('BEGIN');
      await connection.query(LOCK);
      const before = mergeKeys(home, toSharedKeys(await readSharedTexts(connection)));
      const { keys, result }: Changed<R> = change(before);
      const known = new Set(before);
      const changed = keys.filter((key) => !known.has(key));
      for (const key of changed) await connection.query(KEEP, [key.id, JSON.stringify(key)]);
      await connection.query('COMMIT');
      // If the ledger is a local file again later, ended keys stay ended.
      const byId = new Map(changed.map((key) => [key.id, key]));
      if (home.some(({ id }) => byId.has(id)))
        changeKeys(file, clock.wallMs(), (own) => own.map((key) => byId.get(key.id) ?? key));
      return result;
    });
  return {
    create: (traits: NewKey) => apply(changes.create(traits)),
    rotate: (idOrLabel: string, rotation: Rotation) => apply(changes.rotate(idOrLabel, rotation)),
    update: (idOrLabel: string, edits: KeyEdits) => apply(changes.update(idOrLabel, edits)),
    revoke: (idOrLabel: string) => apply(changes.revoke(idOrLabel)),
    list: (): Promise<readonly StoredKey[]> =>
      withConnection(url, async (connection) =>
        mergeKeys(readKeys(file), toSharedKeys(await readSharedTexts(connection))),
      ),
  };
}

/** Creates missing tables, so that keys can be made before the first start. */
async function withConnection<R>(
  url: string,
  use: (connection: Queryable) => Promise<R>,
): Promise<R> {
  try {
    (await openPostgres(url, migrations, () => undefined)).close();
    const connection = await connect(url, () => undefined);
    try {
      return await use(connection);
    } finally {
      // Closing rolls back an uncommitted transaction.
      connection.close();
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { message, cure } =
      error instanceof LedgerRefused ? error : describeQueryError(error, url);
    throw new SvcError('unavailable', `The keys of the shared ledger cannot be used: ${message}`, {
      code: 'RESOURCE_002',
      cause: error,
      cure,
    });
  }
}
