/**
 * SQLite, in the release of better-sqlite3 that the running Node can use. From Node 24.19 and 26.7
 * on, release 12 aborts the process when an object of its own is collected while no JavaScript
 * runs [github.com/nodejs/node, issue 65195, 2026-08]. Release 13 does not, but needs Node-API 10,
 * which no Node 20 has.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type SqliteConnection = BetterSqlite3.Database;
export type SqliteStatement = BetterSqlite3.Statement;
type Driver = typeof BetterSqlite3;

const NODE_API = 10;

const load = createRequire(import.meta.url);
const newer = loadNewer();

/** Which release is loaded. */
export const release = newer === undefined ? 12 : 13;

export const Database: Driver = newer ?? (load('better-sqlite3') as Driver);

function loadNewer(): Driver | undefined {
  if (Number(process.versions.napi) < NODE_API) return undefined;
  try {
    const driver = load('better-sqlite3-13') as Driver;
    new driver(':memory:').close();
    return driver;
  } catch {
    // It is optional, and made for fewer machines than release 12, which is compiled if need be.
    return undefined;
  }
}
