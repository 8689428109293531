/** Distinguishes damage to the database from other failures, and moves a damaged one aside. */
import { existsSync, renameSync } from 'node:fs';
import type { BlockIndex } from './block-index.ts';

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|READ))/;

/** Returns true for an SQLite error which means that the file is damaged. */
export function isDatabaseDamage(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return false;
  // svc never removes or reshapes a table, so one that is missing or different means damage.
  return DAMAGE.test(code) || /no such (table|column)|malformed/.test(String(message));
}

/** Renames a database and its side files; returns its new path. It must be closed. */
export function moveDatabaseAside(path: string, stamp: string): string {
  const movedTo = `${path}.corrupt-${stamp}`;
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(path + part)) renameSync(path + part, movedTo + part);
  }
  return movedTo;
}

/**
 * Returns the folders of an index, for when the log can no longer be read; empty if the index is
 * damaged too.
 */
export function rememberedRoots(index: BlockIndex | undefined): readonly string[] {
  try {
    return index?.roots() ?? [];
  } catch (error) {
    if (isDatabaseDamage(error)) return [];
    throw error;
  }
}
