/**
 * Determines who owns the file in the log's place before anything is written in its folder: a
 * mistaken path must not cost a file. A damaged file of ours is moved aside and recreated; a
 * foreign one is left alone. The same applies to the database beside the log.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { SvcError } from '../../../engine/error.ts';
import type { Layout } from './layout.ts';

/** `blank`: no file, or an empty one. `ours` may still be damaged further on. */
type Owner = 'blank' | 'ours' | 'damaged' | 'foreign';

/** Start of every log, in all formats so far. */
const START = '{"record":"log","format":';
/**
 * Length of a start that no other file has. A file with a shorter one is ours only if our lock is
 * beside it.
 */
const MIN_BYTES = '{"record":"'.length;
/** Start and end of a record's first line; no other file has a line like it. */
const HEADER_START = /^\{"record":"[a-z]+",/;
const HEADER_END = /^,"crc":"[0-9a-f]{8}"\}$/;
const HEADER_END_CHARS = ',"crc":"01234567"}'.length;
/** Bytes searched for the remains of a log: enough for all but its very largest records. */
const SEARCHED_BYTES = 1_048_576;

/** Returns true when a foreign file is in the log's place. */
export function isForeignLog(layout: Layout): boolean {
  return ownerOf(layout) === 'foreign';
}

/** Throws `config` when a foreign file is in the log's place. Changes nothing. */
export function refuseForeignLog(layout: Layout): void {
  if (isForeignLog(layout)) throw foreignFileError(layout.log);
}

/** Returns the error for a file at `path` that svc did not write and will not touch. */
export function foreignFileError(path: string): SvcError {
  return new SvcError('config', `${path} is not a vault index: svc did not write it`, {
    cure: 'Set SVC_VAULT_INDEX to another folder, or move that file away.',
  });
}

/**
 * Throws `config` when a damaged database cannot have been ours, as it lacks the lock file under
 * which ours is updated.
 */
export function refuseForeignDatabase({ database, syncLock }: Layout): void {
  if (!existsSync(syncLock) || !isFile(database)) throw foreignFileError(database);
}

/** Returns false for a folder and the like; true for a missing path, which may become a file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** Returns true for the first bytes of a log, however few. */
export function isStartOfLog(start: Buffer): boolean {
  const text = start.toString('latin1', 0, START.length);
  return START.startsWith(text);
}

function ownerOf({ log, appendLock }: Layout): Owner {
  const stat = statSync(log, { throwIfNoEntry: false });
  if (stat === undefined) return 'blank';
  if (!stat.isFile()) return 'foreign';
  if (stat.size === 0) return 'blank';
  const start = startOf(log);
  const isBeginning = start.length >= MIN_BYTES || existsSync(appendLock);
  if (isStartOfLog(start) && isBeginning) return 'ours';
  const lines = start.toString('latin1').split('\n');
  if (lines.some(isHeader)) return 'damaged';
  if (isObject(lines[0]!)) return 'foreign';
  // Only svc creates this lock, before the first log: the log lost everything recognizable.
  return existsSync(appendLock) ? 'damaged' : 'foreign';
}

/**
 * Checks start and end at fixed positions only, as foreign lines may have any length and content.
 */
function isHeader(line: string): boolean {
  return HEADER_START.test(line) && HEADER_END.test(line.slice(-HEADER_END_CHARS));
}

/** Returns true for a foreign JSON object; in our logs every object is a header with a checksum. */
function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function startOf(path: string): Buffer {
  const fd = openSync(path, 'r');
  try {
    const start = Buffer.allocUnsafe(SEARCHED_BYTES);
    return start.subarray(0, readSync(fd, start, 0, start.length, 0));
  } finally {
    closeSync(fd);
  }
}
