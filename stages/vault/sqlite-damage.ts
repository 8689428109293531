/** Telling damage to the database from other failures, and taking a damaged one out of the way. */
import { existsSync, renameSync } from 'node:fs';

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|READ)|CANTOPEN)/;

/** True for an error of SQLite that says the file is not what it should be. */
export function isDatabaseDamage(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return false;
  // A table that is missing, or of another shape, was not taken away by us.
  return DAMAGE.test(code) || /no such (table|column)|malformed/.test(String(message));
}

/** Renames a database and what belongs to it; returns its new path. It must be closed. */
export function moveDatabaseAside(path: string, stamp: string): string {
  const movedTo = `${path}.corrupt-${stamp}`;
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(path + part)) renameSync(path + part, movedTo + part);
  }
  return movedTo;
}
