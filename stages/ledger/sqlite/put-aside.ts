/**
 * Opening the ledger's file, and putting a damaged one aside, where two proxies may do it at
 * the same time. SQLite opens a file's companions by their paths and later than the file, so
 * whoever opens while another renames would hold one file and the companions of the next.
 */
import { existsSync, renameSync } from 'node:fs';
import { freePath } from '../../aside.ts';
import { openLock } from '../../lock.ts';
import { inodeOf } from '../../private-file.ts';
import { COMPANIONS } from './file.ts';

/** How long a thread stands still for the lock: opening a sound file takes some ten milliseconds. */
const WAIT_MS = 1000;
const LOOK_EVERY_MS = 5;

/** Another process has been opening the file, or putting it aside, for a second. */
export class LedgerHeld extends Error {
  constructor(file: string) {
    super(`another process holds ${file}.lock`);
    this.name = 'LedgerHeld';
  }
}

/**
 * What `work` returns, which is run while nobody else opens this ledger or puts it aside.
 * Its folder must be there. Throws `LedgerHeld`, what `work` throws, or what the disk says.
 */
export function alone<T>(file: string, work: () => T): T {
  const lock = openLock(`${file}.lock`);
  try {
    const release = waitFor(() => lock.tryAcquire());
    if (release === undefined) throw new LedgerHeld(file);
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
 * Renames the file with its companions to `<file>.corrupt-<time>`, unless it is no longer the
 * one with this inode. Returns the path, undefined where nothing was done. To be called
 * `alone`, with the file closed. Throws what the disk says. Nothing is deleted.
 */
export function putAside(
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
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const result = action();
    if (result !== undefined || waitedMs >= WAIT_MS) return result;
    Atomics.wait(still, 0, 0, LOOK_EVERY_MS);
  }
}
