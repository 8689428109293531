/**
 * Opens the ledger's file, and moves a damaged one aside, while other proxies may do the same.
 * SQLite opens a file's companions by their paths and later than the file, so opening during a
 * rename could combine one file with the companions of the next.
 */
import { existsSync, renameSync } from 'node:fs';
import { freePath } from '../../move-aside.ts';
import { openLock } from '../../lock.ts';
import { inodeOf } from '../../private-file.ts';
import { COMPANIONS } from './file.ts';

/** How long a thread blocks on the lock: opening a sound file takes some ten milliseconds. */
const LOCK_WAIT_MS = 1000;
const POLL_MS = 5;

/** Another process has been opening the file, or moving it aside, for a second. */
export class LedgerLocked extends Error {
  constructor(file: string) {
    super(`another process holds ${file}.lock`);
    this.name = 'LedgerHeld';
  }
}

/**
 * Returns the result of `work`, which runs while no other process opens this ledger or moves it
 * aside. Its folder must exist. Throws `LedgerLocked`, what `work` throws, or the error of the file
 * system.
 */
export function withLedgerLock<T>(file: string, work: () => T): T {
  const lock = openLock(`${file}.lock`);
  try {
    const release = waitFor(() => lock.tryAcquire());
    if (release === undefined) throw new LedgerLocked(file);
    try {
      return work();
    } finally {
      release();
    }
  } finally {
    lock.close();
  }
}

/**
 * Renames the file with its companions to `<file>.corrupt-<time>`, unless it no longer has this
 * inode. Returns the path, undefined if nothing was done. Call it inside `withLedgerLock`, with the
 * file closed. Throws the error of the file system. Nothing is deleted.
 */
export function moveDamagedAside(
  file: string,
  inode: bigint | undefined,
  nowMs: number,
): string | undefined {
  if (inodeOf(file) !== inode) return undefined;
  const aside = freePath(file, 'corrupt', nowMs);
  for (const suffix of [...COMPANIONS, '']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  }
  return aside;
}

function waitFor<T>(action: () => T | undefined): T | undefined {
  const still = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const result = action();
    if (result !== undefined || waitedMs >= LOCK_WAIT_MS) return result;
    Atomics.wait(still, 0, 0, POLL_MS);
  }
}
