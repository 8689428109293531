/**
 * The ledger's file on disk: who may own it and who may read it. The ledger shows when a user
 * worked, on what and at what cost, so no other user may read it, whatever the umask.
 */
import { chmodSync, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { makeFolders } from '../../folder.ts';
import { createPrivate } from '../../private-file.ts';
import { LedgerRefused } from '../writer/problem.ts';
import { ownerOf } from './header.ts';

/** The files that SQLite keeps beside the main file. */
export const COMPANIONS = ['-wal', '-shm'] as const;

/**
 * Ensures that the file exists, is ours and has mode 0600; new folders get 0700. An existing folder
 * keeps its mode: it may be `/tmp`. Throws `LedgerRefused` without changing anything, or the error
 * of the file system.
 */
export function prepareLedgerFile(file: string, ownUid: number | undefined): void {
  checkLedgerFile(file, ownUid);
  // Before SQLite can create it with the umask's mode.
  createPrivate(file);
  for (const name of [file, ...COMPANIONS.map((suffix) => file + suffix)]) makePrivate(name);
}

/**
 * Makes the folder and throws `LedgerRefused` for a file that must not be used. The file itself is
 * not touched.
 */
export function checkLedgerFile(file: string, ownUid: number | undefined): void {
  makeFolders(path.dirname(file));
  checkOwner(file, ownUid);
  checkContent(file);
}

/**
 * Refuses a link made by another user or leading to another user's file, and anything but a plain
 * file.
 */
function checkOwner(file: string, ownUid: number | undefined): void {
  const link = lstatSync(file, { throwIfNoEntry: false });
  if (link === undefined) return;
  const target = statSync(file, { throwIfNoEntry: false });
  if (link.isSymbolicLink()) {
    const foreign = ownUid !== undefined && (link.uid !== ownUid || target?.uid !== ownUid);
    if (target === undefined || foreign) {
      throw new LedgerRefused(
        `The ledger ${file} is a link that leads nowhere or to another user`,
        'Remove the link, or set SVC_DB to a file of your own.',
      );
    }
  }
  if (target !== undefined && !target.isFile()) {
    throw new LedgerRefused(`The ledger ${file} is not a plain file`, 'Set SVC_DB to a file.');
  }
}

/**
 * Refuses a file written by another program or a person: a mistaken path must not destroy a file.
 */
function checkContent(file: string): void {
  if (ownerOf(file) !== 'foreign') return;
  throw new LedgerRefused(
    `${file} is not a ledger of svc: another program's database, or a file of another kind`,
    'Set SVC_DB to another path, or move that file away.',
  );
}

function makePrivate(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat !== undefined && (stat.mode & 0o077) !== 0) chmodSync(file, 0o600);
}
