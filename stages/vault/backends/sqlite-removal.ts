/** Taking the database away, so that what it says of forgotten files goes with it. */
import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { underLock } from '../../lock.ts';
import type { Layout } from '../log/layout.ts';
import { isFile } from '../log/owner.ts';
import { isForeign } from './sqlite-schema.ts';

/**
 * Removes the database of an index whose log has just been begun anew, if it is ours. It
 * would be filled again from the start anyway, and rows that are deleted stay in its free
 * pages. Whoever has it open sees that it is gone and makes the next one.
 */
export async function removeDatabase({ database, syncLock }: Layout): Promise<void> {
  if (!existsSync(database) || !existsSync(syncLock)) return;
  // Nobody fills it meanwhile.
  await underLock(syncLock, async () => {
    if (isOurs(database))
      for (const part of ['', '-wal', '-shm']) rmSync(database + part, { force: true });
  });
}

/** A damaged one is left: whoever opens it next sets it aside and says so. */
function isOurs(path: string): boolean {
  if (!existsSync(path) || !isFile(path)) return false;
  try {
    const opened = new Database(path, { readonly: true });
    try {
      return !isForeign(opened);
    } finally {
      opened.close();
    }
  } catch {
    return false;
  }
}
