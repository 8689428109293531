/**
 * Locks between processes, threads and callers. The lock is SQLite's own lock on an empty database
 * file: the kernel releases it when its process dies, however it dies, so a stale lock cannot exist
 * and no code has to decide whether a process id is still alive.
 */
import { dirname } from 'node:path';
import { Database } from './sqlite.ts';
import type { SqliteConnection } from './sqlite.ts';
import { SvcError } from '../engine/error.ts';
import { withPath } from './disk-reason.ts';
import { createPrivate, inodeOf, makePrivateDir } from './private-file.ts';

/** The first waits are short, since most locks are held for a millisecond. */
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 100;

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Gives up with a `conflict` after this long; waits for ever when absent. */
  readonly timeoutMs?: number;
  /** Called once, if the lock turns out to be held by another holder. */
  readonly onWait?: () => void;
}

/** An open lock file. */
export type Lock = ReturnType<typeof openLock>;

/**
 * Opens the lock at `path`; makes its file and folder if missing. A lock whose file was deleted is
 * reopened when it is next taken: the valid lock is the one at the path.
 */
export function openLock(path: string) {
  let opened = openFile(path);
  let held = false;
  const isOurs = ({ inode }: OpenFile): boolean => inode !== undefined && inodeOf(path) === inode;
  const tryAcquire = (): (() => void) | undefined => {
    if (held) return undefined;
    for (;;) {
      if (!isOurs(opened)) {
        opened.database.close();
        opened = openFile(path);
      }
      const { database } = opened;
      try {
        database.exec('BEGIN EXCLUSIVE');
      } catch (error) {
        if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return undefined;
        if (!isOurs(opened)) continue;
        throw withPath(error, path);
      }
      // Checked only now: the file may have been deleted before the lock was taken.
      if (!isOurs(opened)) continue;
      held = true;
      let released = false;
      return () => {
        if (released) return;
        released = true;
        held = false;
        if (database.open && database.inTransaction) database.exec('ROLLBACK');
      };
    }
  };
  return {
    /** Takes the lock if it is free. */
    tryAcquire,
    /**
     * Waits until the lock is free, takes it and returns the function that releases it. Throws
     * `conflict` on timeout, `cancelled` when the signal aborts.
     */
    acquire: (options: LockOptions = {}): Promise<() => void> =>
      acquireWith(tryAcquire, path, options),
    /** Returns the result of `work`, done while the lock is held. Throws as `acquire` does. */
    async during<T>(work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
      const release = await acquireWith(tryAcquire, path, options);
      try {
        return await work();
      } finally {
        release();
      }
    },
    close(): void {
      opened.database.close();
    },
  };
}

/** Like `during`, with the lock at `path` opened for this call alone. */
export async function underLock<T>(
  path: string,
  work: () => Promise<T>,
  options?: LockOptions,
): Promise<T> {
  const lock = openLock(path);
  try {
    return await lock.during(work, options);
  } finally {
    lock.close();
  }
}

interface OpenFile {
  readonly database: SqliteConnection;
  readonly inode: bigint | undefined;
}

function openFile(path: string): OpenFile {
  makePrivateDir(dirname(path));
  createPrivate(path);
  // Read before the file is opened: if the file was replaced in between, the older inode is
  // recognised and the file is opened again.
  const inode = inodeOf(path);
  try {
    return { database: new Database(path, { timeout: 0 }), inode };
  } catch (error) {
    throw withPath(error, path);
  }
}

async function acquireWith(
  tryAcquire: () => (() => void) | undefined,
  path: string,
  { signal, timeoutMs, onWait }: LockOptions,
): Promise<() => void> {
  const startMs = performance.now();
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    if (signal?.aborted === true) throw new SvcError('cancelled', 'Stopped while waiting');
    const release = tryAcquire();
    if (release !== undefined) return release;
    if (waitMs === FIRST_WAIT_MS) onWait?.();
    if (timeoutMs !== undefined && performance.now() - startMs >= timeoutMs) {
      throw new SvcError('conflict', `Another process holds ${path}`, {
        cure: 'Wait for it to end, or stop it.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
