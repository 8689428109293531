/** Moves an unreadable file out of the way of the file that will be written next. */
import { existsSync, renameSync } from 'node:fs';
import { reasonOf } from './disk-reason.ts';

/** Returns a path beside `file` that is not taken: `<file>.<label>-<time>`. */
export function freePath(file: string, label: string, nowMs: number): string {
  const preferredPath = `${file}.${label}-${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
  let free = preferredPath;
  for (let n = 2; existsSync(free); n += 1) free = `${preferredPath}-${n}`;
  return free;
}

/**
 * Renames `file` to `<file>.corrupt-<time>` and returns that path. Throws the error of the file
 * system.
 */
export function moveUnreadable(file: string, nowMs: number): string {
  const aside = freePath(file, 'corrupt', nowMs);
  renameSync(file, aside);
  return aside;
}

/**
 * Moves `file`, which could not be read because of `thrown`, out of the way of the next write.
 * Returns an error that says so, with its new place if it could be moved.
 */
export function moveAsideError(file: string, thrown: unknown, nowMs: number): Error {
  let where = '';
  try {
    where = `; it was moved to ${moveUnreadable(file, nowMs)}`;
  } catch {
    // The reason why it cannot be read is the more useful one.
  }
  return new Error(`${file} cannot be read: ${reasonOf(thrown)}${where}`, { cause: thrown });
}
