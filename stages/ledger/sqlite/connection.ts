/** The connection that reads a ledger in SQLite, without Kysely: its 260 modules are not needed to run a query that is written. */
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';
import { SvcError } from '../../../engine/index.ts';
import { APPLICATION_ID } from '../tables.ts';
import { assertVersion, OWN_CURES } from '../version.ts';
import type { VersionCures } from '../version.ts';
import { ownerOf } from './header.ts';
import { latencySpreads } from './spreads.ts';

/** How long a read waits while another process recovers or checkpoints the file. */
const BUSY_TIMEOUT_MS = 2000;

/**
 * Opens the SQLite file so that it cannot be written. Throws `not_found` if there is no ledger yet, `config` if it is not
 * one of this program's version, `unavailable` (RESOURCE_002) if it cannot be read. Its type is
 * not the driver's, whose types those who install this package do not have.
 */
export function openReadOnly(file: string, cures = OWN_CURES): SqliteDatabase {
  const database = connect(file);
  try {
    checkReadable(database, file, cures);
    database.aggregate('latency_spreads', latencySpreads);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function connect(file: string): Database.Database {
  if (!existsSync(file)) {
    throw new SvcError('not_found', `There is no ledger at ${file}`, {
      cure: 'It is created when the proxy starts: svc serve',
    });
  }
  if (ownerOf(file) === 'stranger') {
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

function checkReadable(database: Database.Database, file: string, cures: VersionCures): void {
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
