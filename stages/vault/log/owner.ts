/**
 * Whose file it is that lies where the log should be, found out before anything is written in
 * its folder: a path given by mistake must not cost a file. What is ours and damaged is
 * moved aside and made again; what is somebody else's is left as it is. The same goes for
 * the database beside the log.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { SvcError } from '../../../engine/error.ts';
import type { Layout } from './layout.ts';

/** `blank`: no file, or an empty one. `ours` may well be damaged further on. */
type Owner = 'blank' | 'ours' | 'damaged' | 'stranger';

/** How every log begins, in all formats so far. */
const START = '{"record":"log","format":';
/** So much of that no other file begins with; less of it is ours only beside our lock. */
const LEAST_BYTES = '{"record":"'.length;
/** How the first line of a record begins and ends; nothing but a log has a line like it. */
const HEADER_START = /^\{"record":"[a-z]+",/;
const HEADER_END = /^,"crc":"[0-9a-f]{8}"\}$/;
const HEADER_END_CHARS = ',"crc":"01234567"}'.length;
/** Looked through for what is left of a log: enough for any of its records but the very largest. */
const SEARCHED_BYTES = 1_048_576;

/** True when the log's place is taken by a file that is not ours. */
export function isStrangers(layout: Layout): boolean {
  return ownerOf(layout) === 'stranger';
}

/** Throws `config` when the log's place is taken by a file that is not ours. Changes nothing. */
export function refuseStranger(layout: Layout): void {
  if (isStrangers(layout)) throw strangersFile(layout.log);
}

/** The error for a file at `path` that svc has not written and will not touch. */
export function strangersFile(path: string): SvcError {
  return new SvcError('config', `${path} is not a vault index: svc did not write it`, {
    cure: 'Set SVC_VAULT_INDEX to another folder, or move that file away.',
  });
}

/**
 * Throws `config` when a damaged database cannot have been ours: ours is never without the
 * lock under which it is brought up to date.
 */
export function refuseStrangersDatabase({ database, syncLock }: Layout): void {
  if (!existsSync(syncLock) || !isFile(database)) throw strangersFile(database);
}

/** False for a folder and the like; what is not there may become a file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** True for the first bytes of a log, however few there are. */
export function isStartOfLog(start: Buffer): boolean {
  const text = start.toString('latin1', 0, START.length);
  return START.startsWith(text);
}

function ownerOf({ log, appendLock }: Layout): Owner {
  const stat = statSync(log, { throwIfNoEntry: false });
  if (stat === undefined) return 'blank';
  if (!stat.isFile()) return 'stranger';
  if (stat.size === 0) return 'blank';
  const start = startOf(log);
  const isBeginning = start.length >= LEAST_BYTES || existsSync(appendLock);
  if (isStartOfLog(start) && isBeginning) return 'ours';
  const lines = start.toString('latin1').split('\n');
  if (lines.some(isHeader)) return 'damaged';
  if (isObject(lines[0]!)) return 'stranger';
  // Made before the first log is, by nobody else: nothing of ours is left to compare with.
  return existsSync(appendLock) ? 'damaged' : 'stranger';
}

/** In two looks, each at a place that is fixed: a stranger may have lines of any length and content. */
function isHeader(line: string): boolean {
  return HEADER_START.test(line) && HEADER_END.test(line.slice(-HEADER_END_CHARS));
}

/** A line of JSON as others write it; of ours every object is a header with its checksum. */
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
