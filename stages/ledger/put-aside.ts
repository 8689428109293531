/**
 * Puts a damaged ledger aside where two proxies may meet the same damage at the same time:
 * one of them does it, and neither touches the new file that the other has begun.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { freePath } from '../aside.ts';
import { inodeOf } from '../private-file.ts';
import { COMPANIONS } from './file.ts';

/** Whoever holds the lock for longer was killed: it takes three renames. */
const LOCKED_MS = 10_000;

/**
 * Renames the file with its companions to `<file>.corrupt-<time>`, unless it is no longer the
 * one with this inode or somebody else is at it. Returns the path, undefined where nothing was
 * done. The file must be closed. Throws what the disk says. Nothing is deleted.
 */
export function putAside(
  file: string,
  inode: bigint | undefined,
  nowMs: number,
): string | undefined {
  const lock = `${file}.moving`;
  if (!takeLock(lock, nowMs)) return undefined;
  try {
    if (inodeOf(file) !== inode) return undefined;
    const aside = freePath(file, 'corrupt', nowMs);
    // Companions first: as soon as the file is gone, another proxy begins a new one with its own.
    for (const suffix of [...COMPANIONS, '']) {
      if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    }
    return aside;
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string, nowMs: number): boolean {
  const held = statSync(lock, { throwIfNoEntry: false });
  if (held !== undefined && nowMs - held.mtimeMs > LOCKED_MS) rmSync(lock, { force: true });
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}
