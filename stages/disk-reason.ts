/** Errors of the disk, or of the database on it, in words for the user. */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENOTEMPTY: 'it is not empty',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'no space left for this user',
  EFBIG: 'it would be too large',
  EROFS: 'the disk is read-only',
  EIO: 'the disk fails',
  ELOOP: 'it is a link',
  EEXIST: 'it exists already',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** By prefix of SQLite's code, whose suffix gives details. */
const DATABASE_REASONS: readonly (readonly [code: string, reason: string])[] = [
  ['SQLITE_FULL', 'no space left on the disk'],
  ['SQLITE_READONLY', 'it is read-only'],
  ['SQLITE_PERM', 'permission denied'],
  ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ['SQLITE_IOERR', 'the disk is full or fails'],
];

/**
 * Returns a file system error in a few words, without repeating the path; for any other error its
 * own message.
 */
export function reasonOf(thrown: unknown): string {
  const { code, message } = (thrown ?? {}) as NodeJS.ErrnoException;
  return knownReason(code) ?? message ?? String(thrown);
}

/** Returns true for errors of the file system or SQLite: their cause is outside this program. */
export function isDiskFault(thrown: unknown): thrown is NodeJS.ErrnoException {
  const { code } = (thrown ?? {}) as NodeJS.ErrnoException;
  // Errors of `makeFolders` already state their reason.
  return code === 'ENOTSUP' || knownReason(code) !== undefined;
}

/** Returns `error` with `path` added if it has none, as an error of SQLite or of an open file. */
export function withPath(error: unknown, path: string): unknown {
  const { code, path: namedPath } = (error ?? {}) as NodeJS.ErrnoException;
  const isRefused = isDiskFault(error) || String(code).startsWith('SQLITE_');
  return namedPath === undefined && isRefused ? Object.assign(error as object, { path }) : error;
}

function knownReason(code: string | undefined): string | undefined {
  if (typeof code !== 'string') return undefined;
  return REASONS[code] ?? DATABASE_REASONS.find(([start]) => code.startsWith(start))?.[1];
}
