/**
 * What `svc integrate --apply` did, so that `--undo` can take it back: a list in the home folder,
 * and beside it each file as it was before. The list is a file like any other, which may be damaged
 * or written by somebody else: no path in it is followed but to what svc itself keeps in its folder
 * `backups`, and that only where its hash is the one that was noted.
 */
import * as fs from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import {
  createPrivateFile,
  ensurePrivateFolder,
  writePrivateFile,
} from '../../server/config/home.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { FormatName } from './client.ts';
import { formats } from './formats.ts';
import { fingerprint } from './settings-file.ts';
import type { KeyPath } from './text-format.ts';

/** One value that was written. */
export interface Written {
  readonly path: KeyPath;
  /** Its text in the file. */
  readonly raw: string;
  /** How many names of `path` lead to the outermost object that was made for it; null where none was. */
  readonly made: number | null;
}

/** One file that was changed for a client. */
export interface Integration {
  readonly client: string;
  readonly file: string;
  readonly format: FormatName;
  /** The address that the client was given. */
  readonly url: string;
  readonly at: string;
  /** Name of the file as it was before, in the folder `backups`; empty where the list names none there, null where there was none. */
  readonly backup: string | null;
  /** SHA-256 of the file as it was before; absent in entries of earlier versions, and where there was none. */
  readonly before?: string;
  /** What group and others might do with the file before, where svc has taken that from them. */
  readonly narrowed?: number;
  /** True where the folder of the file was made for it. */
  readonly madeFolder: boolean;
  /** True where the file was made for another entry, so that there was none before svc. */
  readonly madeFile?: true;
  /** SHA-256 of the file as it was left. */
  readonly left: string;
  readonly written: readonly Written[];
}

/** The list as it was read. */
export interface Integrations {
  readonly entries: readonly Integration[];
  /** What stands in the list and is no entry of svc's: it is left there, and nothing of it is done. */
  readonly strange: readonly unknown[];
}

/** The list of a machine on which somebody points hundreds of projects at svc is a tenth of this. */
const MOST_LIST_BYTES = 8 * 1024 * 1024;
const SHA256 = /^[0-9a-f]{64}$/;
const DEEPEST_PATH = 16;

export function listFile(home: string): string {
  return join(home, 'integrations.json');
}

function backupFolder(home: string): string {
  return join(home, 'backups');
}

/** All files that were changed and not changed back. @throws SvcError `config` where the list is damaged as a whole. */
export function readIntegrations(home: string): Integrations {
  const path = listFile(home);
  try {
    if (fs.statSync(path).size > MOST_LIST_BYTES)
      throw new Error('it is too large for such a list');
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
      cure: 'The files as they were before are in the folder backups beside it.',
    });
  }
}

/** `item` as an entry; undefined for what svc does not write. */
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

/** Never more than reading, and writing by the group, whatever the list says. */
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

/** The name of a backup; earlier versions wrote its path. For a path outside the folder it is empty, which is no file's; undefined for what is no text. */
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

/** Writes the list with `client` and `file`'s entry replaced by `entry`, or left out. */
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
  ensurePrivateFolder(home);
  writePrivateFile(listFile(home), `${JSON.stringify({ integrations }, undefined, 2)}\n`);
}

/** Keeps a file as it is, readable by this user alone, under `name` or one like it. Returns where. */
export function keepBackup(home: string, name: string, bytes: Uint8Array): string {
  const folder = backupFolder(home);
  ensurePrivateFolder(home);
  ensurePrivateFolder(folder);
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(-200);
  for (let count = 1; ; count += 1) {
    const path = join(folder, count === 1 ? plain : `${count}-${plain}`);
    try {
      createPrivateFile(path, bytes);
      return path;
    } catch (thrown) {
      // Two files of one name in one moment: each has a copy of its own.
      if (!(thrown instanceof SvcError) || thrown.kind !== 'conflict') throw thrown;
    }
  }
}

/**
 * The file as it was before `entry` changed it: what svc kept, byte for byte. Undefined where there
 * was none, and where what lies there now is something else.
 */
export function savedBytes(home: string, entry: Integration): Buffer | undefined {
  if (entry.backup === null) return undefined;
  const bytes = readOwn(home, entry.backup);
  if (bytes === undefined) return undefined;
  return isAsSaved(bytes, entry) ? bytes : undefined;
}

/** Where that lies. */
export function savedPath(home: string, { backup }: Integration): string | null {
  return backup === null ? null : join(backupFolder(home), backup);
}

/** An entry without the hash is of a version that noted none: its edits lead from the right bytes to the noted ones. */
function isAsSaved(bytes: Buffer, { before, format, left, written }: Integration): boolean {
  if (before !== undefined) return fingerprint(bytes) === before;
  try {
    const put = (text: string, { path, raw }: Written) => formats[format].put(text, path, raw);
    return fingerprint(Buffer.from(written.reduce(put, bytes.toString('utf8')))) === left;
  } catch {
    return false;
  }
}

/** A regular file in the folder itself: no link, in whatever place. */
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

/** Removes the saved file of `entry`, where it is the one that svc saved, and the folder with the last of them. */
export function dropBackup(home: string, entry: Integration): void {
  if (entry.backup === null || savedBytes(home, entry) === undefined) return;
  fs.rmSync(join(backupFolder(home), entry.backup), { force: true });
  try {
    fs.rmdirSync(backupFolder(home));
  } catch {
    // Others are in it.
  }
}
