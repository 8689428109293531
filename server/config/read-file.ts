/** Reads a small text file as a whole, within a size limit. */
import * as fs from 'node:fs';
import { reasonOf } from '../../stages/disk-reason.ts';
import { unreadableConfig } from './fault.ts';

/** A file's text and its permission bits. */
export interface TextFile {
  readonly text: string;
  readonly mode: number;
}

/** Reads a file; undefined if there is none. */
export type ReadFile = (path: string, maxBytes: number) => TextFile | undefined;

/**
 * Reads `path` as UTF-8.
 *
 * @throws SvcError `config` CONFIG_001 if it is not a regular file, is larger than `maxBytes`, is
 * not UTF-8, or cannot be read.
 */
export const readConfigFile: ReadFile = (path, maxBytes) => {
  let file: number;
  try {
    // Without O_NONBLOCK a named pipe would hang the start until it has a writer.
    file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unreadableConfig(`${path}: ${reasonOf(thrown)}`, thrown);
  }
  try {
    return readOpen(file, path, maxBytes);
  } finally {
    fs.closeSync(file);
  }
};

function readOpen(file: number, path: string, maxBytes: number): TextFile {
  const stat = fs.fstatSync(file);
  if (!stat.isFile()) throw unreadableConfig(`${path}: it is not a file`);
  if (stat.size > maxBytes)
    throw unreadableConfig(`${path}: it is larger than ${maxBytes / 1024} KiB`);
  const bytes = fs.readFileSync(file);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, mode: stat.mode & 0o777 };
  } catch (thrown) {
    throw unreadableConfig(`${path}: it is not UTF-8 text`, thrown);
  }
}
