/** Removes the database, so that its data on forgotten files is gone too. */
import { existsSync, rmSync } from 'node:fs';
import { Database } from '../../sqlite.ts';
import { underLock } from '../../lock.ts';
import type { Layout } from '../log/layout.ts';
import { isFile } from '../log/owner.ts';
import { isForeign } from './sqlite-schema.ts';

/**
 * Removes the database of an index whose log was just started afresh, if svc wrote it. It would be
 * rebuilt from the start anyway, and deleted rows stay in its free pages. A process that has it
 * open notices the removal and creates a new one.
 */
export async function removeDatabase({ database, syncLock }: Layout): Promise<void> {
  if (!existsSync(database) || !existsSync(syncLock)) return;
  // The lock keeps other processes from filling the database meanwhile.
  await underLock(syncLock, async () => {
    if (isOurs(database))
      for (const part of ['', '-wal', '-shm']) rmSync(database + part, { force: true });
  });
}

/**
 * Returns true if svc wrote the database. A damaged one is left: the next open moves it aside and
 * reports it.
 */
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
