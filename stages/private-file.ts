/** Makes private folders (0700) and files (0600), whatever the umask. */
import { chmodSync, closeSync, constants, fchmodSync, openSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { makeFolders } from './folder.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Makes `dir` and its missing parents with mode 0700; an existing folder keeps its mode. */
export function makePrivateDir(dir: string): void {
  if (makeFolders(dir)) chmodSync(dir, 0o700);
}

/** Opens `path` with `flags`, mode 0600 also under umask 000, and returns the descriptor. */
export function openPrivate(path: string, flags: string): number {
  const fd = openSync(path, flags, 0o600);
  fchmodSync(fd, 0o600);
  return fd;
}

/**
 * Creates an empty private file unless it exists. An existing one is not opened: on POSIX,
 * closing any descriptor of a file drops every lock that this process holds on it.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openPrivate(path, 'wx'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Returns the inode, which distinguishes the file at `path` from a former one that is still open;
 * undefined if there is none.
 */
export function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Replaces `path` by a private file, so that a reader sees either the former file or the whole new
 * one. Synced to disk unless `isDurable` is false, for content that may be lost in a crash of the
 * machine.
 */
export async function replaceFile(
  path: string,
  write: (draft: FileHandle) => Promise<unknown>,
  { isDurable = true }: { readonly isDurable?: boolean } = {},
): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.chmod(0o600);
    await write(handle);
    if (isDurable) await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
