/** Distinguishes damage to the database from other failures, and takes a damaged one out of the way. */
import { existsSync, renameSync } from 'node:fs';
import type { BlockIndex } from './block-index.ts';

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|READ))/;

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

/** The folders of an index, for a log in which they can no longer be read; none where the index is damaged too. */
export function rememberedRoots(index: BlockIndex | undefined): readonly string[] {
  try {
    return index?.roots() ?? [];
  } catch (error) {
    if (isDatabaseDamage(error)) return [];
    throw error;
  }
}
