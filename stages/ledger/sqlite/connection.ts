/**
 * The connection that reads a ledger in SQLite, without Kysely: running a prepared query does not
 * need its 260 modules.
 */
import { existsSync } from 'node:fs';
import { Database } from '../../sqlite.ts';
import type { SqliteConnection } from '../../sqlite.ts';
import type { SqliteDatabase } from 'kysely';
import { SvcError } from '../../../engine/index.ts';
import { APPLICATION_ID } from '../tables.ts';
import { assertVersion, OWN_CURES } from '../version.ts';
import type { VersionCures } from '../version.ts';
import { ownerOf } from './header.ts';
import { latenciesByStep } from './latencies.ts';

/** How long a read waits while another process recovers or checkpoints the file. */
const BUSY_TIMEOUT_MS = 2000;

/**
 * Opens the SQLite file read-only. Throws `not_found` if there is no ledger yet, `config` if it has
 * another version, `unavailable` (RESOURCE_002) if it cannot be read. The type is our own, because
 * the driver's types are not installed for users of this package.
 */
export function openReadOnly(file: string, cures = OWN_CURES): SqliteDatabase {
  const database = connect(file);
  try {
    checkReadable(database, file, cures);
    database.aggregate('latencies_by_step', latenciesByStep);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function connect(file: string): SqliteConnection {
  if (!existsSync(file)) {
    throw new SvcError('not_found', `There is no ledger at ${file}`, {
      cure: 'It is created when the proxy starts: svc serve',
    });
  }
  if (ownerOf(file) === 'foreign') {
    throw new SvcError('config', `${file} is not a ledger of svc`, {
      cure: 'Set SVC_DB to the path of the ledger, or to a path where no file exists yet.',
    });
  }
  try {
    return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw new SvcError('unavailable', `The ledger ${file} cannot be opened`, {
      code: 'RESOURCE_002',
      cause: error,
    });
  }
}

function checkReadable(database: SqliteConnection, file: string, cures: VersionCures): void {
  let version: unknown;
  let owner: unknown;
  try {
    version = database.pragma('user_version', { simple: true });
    owner = database.pragma('application_id', { simple: true });
  } catch (error) {
    throw new SvcError('unavailable', `The ledger ${file} cannot be read`, {
      code: 'RESOURCE_002',
      cause: error,
      cure: 'Start the proxy: it moves a damaged ledger aside and starts a new one.',
    });
  }
  assertVersion(file, owner === APPLICATION_ID ? Number(version) : 0, cures);
}
