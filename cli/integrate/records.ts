/**
 * Records the changes of `svc integrate --apply`, so that `--undo` can revert them: a list in the
 * home folder, and a copy of each file as it was before. The list may be damaged or written by
 * someone else: no path in it is followed, except to svc's own files in its folder `backups`, and
 * only if the recorded hash matches.
 */
import * as fs from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import {
  createPrivateFile,
  ensureHome,
  ensurePrivateFolder,
  writePrivateFile,
} from '../../server/config/home.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { FormatName } from './client.ts';
import { formats } from './formats.ts';
import { fingerprint } from './settings-file.ts';
import type { KeyPath } from './text-format.ts';

/** One written value. */
export interface Written {
  readonly path: KeyPath;
  /** Its text in the file. */
  readonly raw: string;
  /** How many names of `path` lead to the outermost object created for it; null if none was. */
  readonly made: number | null;
}

/** One file changed for a client. */
export interface Integration {
  readonly client: string;
  readonly file: string;
  readonly format: FormatName;
  /** The proxy address given to the client. */
  readonly url: string;
  readonly at: string;
  /**
   * Name of the backup in the folder `backups`; empty if the list names none there, null if there
   * was no file.
   */
  readonly backup: string | null;
  /**
   * SHA-256 of the file as it was before; absent in entries of earlier versions, and if there was
   * no file.
   */
  readonly before?: string;
  /** Permissions of group and others that svc removed. */
  readonly narrowed?: number;
  /** True if svc created the file's folder. */
  readonly madeFolder: boolean;
  /** True if the file was created for another entry, so that there was none before svc. */
  readonly madeFile?: true;
  /** SHA-256 of the file as written. */
  readonly left: string;
  readonly written: readonly Written[];
}

/** The parsed list. */
export interface Integrations {
  readonly entries: readonly Integration[];
  /** Items that are not entries of svc's: they are kept in the list and otherwise ignored. */
  readonly strange: readonly unknown[];
}

/** Ten times the list of a machine with hundreds of projects. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;
const SHA256 = /^[0-9a-f]{64}$/;
const DEEPEST_PATH = 16;

export function listFile(home: string): string {
  return join(home, 'integrations.json');
}

function backupFolder(home: string): string {
  return join(home, 'backups');
}

/**
 * Reads all changes that were not undone.
 *
 * @throws SvcError `config` if the whole list is damaged.
 */
export function readIntegrations(home: string): Integrations {
  const path = listFile(home);
  try {
    if (fs.statSync(path).size > MAX_LIST_BYTES) throw new Error('it is too large for such a list');
    const list: unknown = JSON.parse(fs.readFileSync(path, 'utf8'));
    const items: unknown = isObject(list) ? list['integrations'] : undefined;
    if (!Array.isArray(items)) throw new Error('it is not a list');
    const read = items.map((item: unknown) => toIntegration(home, item));
    const entries = read.filter((entry) => entry !== undefined);
    return { entries, strange: items.filter((_, at) => read[at] === undefined) };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { entries: [], strange: [] };
    throw new SvcError('config', `Cannot read ${path}: ${reasonOf(cause)}`, {
      cause,
      cure: 'Copies of the original files are in the folder backups next to it.',
    });
  }
}

/** Returns `item` as an entry; undefined if svc could not have written it. */
function toIntegration(home: string, item: unknown): Integration | undefined {
  if (!isObject(item)) return undefined;
  const { client, file, format, url, at, backup, before, narrowed, left, written } = item;
  const { madeFolder, madeFile } = item;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(client) || !isText(file) || !isAbsolute(file) || !isText(url) || !isText(at))
    return undefined;
  if (!isFormat(format) || typeof madeFolder !== 'boolean') return undefined;
  if (!isHash(left) || (before !== undefined && !isHash(before))) return undefined;
  if (narrowed !== undefined && !isNarrowed(narrowed)) return undefined;
  if (!Array.isArray(written) || !written.every(isWritten)) return undefined;
  const name = backup === null ? null : nameOf(home, backup);
  if (name === undefined) return undefined;
  const values = written.map(({ path, raw, made }) => ({ path, raw, made }));
  const more = {
    ...(before !== undefined && { before }),
    ...(narrowed !== undefined && { narrowed }),
    ...(madeFile === true && { madeFile: true as const }),
  };
  const rest = { url, at, backup: name, ...more, madeFolder, left, written: values };
  return { client, file, format, ...rest };
}

const isFormat = (value: unknown): value is FormatName =>
  typeof value === 'string' && Object.hasOwn(formats, value);

const isHash = (value: unknown): value is string => typeof value === 'string' && SHA256.test(value);

/** At most read, and write for the group, whatever the list says. */
export const NARROWED = 0o064;

const isNarrowed = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) === (Number(value) & NARROWED);

function isWritten(value: unknown): value is Written {
  if (!isObject(value)) return false;
  const { path, raw, made } = value;
  return (
    Array.isArray(path) &&
    path.length > 0 &&
    path.length <= DEEPEST_PATH &&
    path.every((part) => typeof part === 'string' || Number.isSafeInteger(part)) &&
    typeof raw === 'string' &&
    (made === null || (Number.isSafeInteger(made) && Number(made) > 0))
  );
}

/**
 * Returns the name of a backup; earlier versions recorded its path. Empty, which matches no file,
 * for a path outside the folder; undefined if it is not a text.
 */
function nameOf(home: string, backup: unknown): string | undefined {
  if (typeof backup !== 'string') return undefined;
  const name = basename(backup);
  if (name === backup) return name;
  return isSameFolder(dirname(backup), backupFolder(home)) ? name : '';
}

function isSameFolder(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return fs.realpathSync(a) === fs.realpathSync(b);
  } catch {
    return false;
  }
}

/** Writes the list with the entry of `client` and `file` replaced by `entry`, or removed. */
export function writeIntegration(
  home: string,
  of: Pick<Integration, 'client' | 'file'>,
  entry: Integration | undefined,
): void {
  const { entries, strange } = readIntegrations(home);
  const others = entries.filter((one) => one.client !== of.client || one.file !== of.file);
  const integrations = [...strange, ...others, ...(entry === undefined ? [] : [entry])];
  if (integrations.length === 0) {
    fs.rmSync(listFile(home), { force: true });
    return;
  }
  ensureHome(home);
  writePrivateFile(listFile(home), `${JSON.stringify({ integrations }, undefined, 2)}\n`);
}

/**
 * Stores a copy of a file, readable only by this user, under `name` or a similar one. Returns its
 * path.
 */
export function keepBackup(home: string, name: string, bytes: Uint8Array): string {
  const folder = backupFolder(home);
  ensureHome(home);
  ensurePrivateFolder(folder);
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(-200);
  for (let count = 1; ; count += 1) {
    const path = join(folder, count === 1 ? plain : `${count}-${plain}`);
    try {
      createPrivateFile(path, bytes);
      return path;
    } catch (thrown) {
      // Two files with the same name at the same moment: each gets its own copy.
      if (!(thrown instanceof SvcError) || thrown.kind !== 'conflict') throw thrown;
    }
  }
}

/**
 * Returns the file as it was before `entry` changed it, byte for byte. Undefined if there was none,
 * or if the backup has been changed.
 */
export function savedBytes(home: string, entry: Integration): Buffer | undefined {
  if (entry.backup === null) return undefined;
  const bytes = readOwn(home, entry.backup);
  if (bytes === undefined) return undefined;
  return isAsSaved(bytes, entry) ? bytes : undefined;
}

/** Returns the path of the backup. */
export function savedPath(home: string, { backup }: Integration): string | null {
  return backup === null ? null : join(backupFolder(home), backup);
}

/**
 * An entry of an earlier version has no hash: then the recorded edits must lead from these bytes to
 * the recorded result.
 */
function isAsSaved(bytes: Buffer, { before, format, left, written }: Integration): boolean {
  if (before !== undefined) return fingerprint(bytes) === before;
  try {
    const put = (text: string, { path, raw }: Written) => formats[format].put(text, path, raw);
    return fingerprint(Buffer.from(written.reduce(put, bytes.toString('utf8')))) === left;
  } catch {
    return false;
  }
}

/** Reads a regular file in the folder itself, without following links. */
function readOwn(home: string, name: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    if (!fs.lstatSync(backupFolder(home)).isDirectory()) return undefined;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    descriptor = fs.openSync(join(backupFolder(home), name), flags);
    return fs.fstatSync(descriptor).isFile() ? fs.readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/**
 * Removes the backup of `entry`, if it is the one that svc saved, and the folder with the last one.
 */
export function dropBackup(home: string, entry: Integration): void {
  if (entry.backup === null || savedBytes(home, entry) === undefined) return;
  fs.rmSync(join(backupFolder(home), entry.backup), { force: true });
  try {
    fs.rmdirSync(backupFolder(home));
  } catch {
    // It contains others.
  }
}
