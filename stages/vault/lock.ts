/**
 * Locks between processes, threads and callers. The lock is SQLite's own lock on an
 * empty database file: the kernel lets go of it when its process dies, however it dies,
 * so a stale lock cannot exist and nobody has to judge whether a process id is still alive.
 */
import Database from 'better-sqlite3';
import { SvcError } from '../../engine/error.ts';
import { createPrivate } from './layout.ts';

/** The first waits are short, since most locks are held for a millisecond. */
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 100;

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Gives up with a `conflict` after so long; waits for ever when absent. */
  readonly timeoutMs?: number;
  /** Called once, when the lock turns out to be held by somebody else. */
  readonly onWait?: () => void;
}

/** A lock file, opened. */
export interface Lock {
  /**
   * Waits until the lock is free, takes it and returns the function that frees it.
   * Throws `conflict` when the time is over, `cancelled` when the signal says so.
   */
  acquire(options?: LockOptions): Promise<() => void>;
  /** Takes the lock if it is free. */
  tryAcquire(): (() => void) | undefined;
  close(): void;
}

/** Opens the lock at `path` and makes its file when it is missing. Its folder must exist. */
export function openLock(path: string): Lock {
  createPrivate(path);
  const database = new Database(path, { timeout: 0 });
  let held = false;
  const tryAcquire = (): (() => void) | undefined => {
    if (held) return undefined;
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return undefined;
      throw error;
    }
    held = true;
    return () => {
      if (!held) return;
      held = false;
      if (database.open) database.exec('ROLLBACK');
    };
  };
  return {
    tryAcquire,
    acquire: (options = {}) => acquireWith(tryAcquire, path, options),
    close: () => database.close(),
  };
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
        cure: 'Wait for the other indexer to end, or stop it.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
