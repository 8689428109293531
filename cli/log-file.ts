/** Reads the end of a log that other processes write, and lines added later. */
import * as fs from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Returns the log of one day and its rotated files, newest first. */
function filesOf(path: string): string[] {
  const extension = extname(path);
  const stem = basename(path, extension);
  const folder = dirname(path);
  let names: string[];
  try {
    names = fs.readdirSync(folder);
  } catch {
    return [];
  }
  const rotated = names
    .filter((name) => name.startsWith(`${stem}-`) && name.endsWith(extension))
    .filter((name) =>
      /^-\d{8}-\d{2,}$/.test(name.slice(stem.length, name.length - extension.length)),
    )
    .toSorted()
    .toReversed();
  return [path, ...rotated.map((name) => join(folder, name))];
}

/**
 * Returns the last `count` lines, oldest first; continues in rotated files if the live one is too
 * short.
 */
export function lastLines(path: string, count: number): string[] {
  let lines: string[] = [];
  for (const file of filesOf(path)) {
    if (lines.length >= count) break;
    lines = [...tail(file, count - lines.length), ...lines];
  }
  return lines;
}

/** Reads backwards in chunks, so that a long file costs no more than its end. */
function tail(file: string, count: number): string[] {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, 'r');
  } catch {
    return [];
  }
  try {
    let start = fs.fstatSync(descriptor).size;
    let bytes = Buffer.alloc(0);
    let newlines = 0;
    while (start > 0 && newlines <= count) {
      const size = Math.min(PIECE_BYTES, start);
      start -= size;
      const piece = Buffer.alloc(size);
      const read = fs.readSync(descriptor, piece, 0, size, start);
      for (let index = 0; index < read; index += 1) if (piece[index] === NEWLINE) newlines += 1;
      bytes = Buffer.concat([piece.subarray(0, read), bytes]);
    }
    const lines = bytes.toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.slice(-count);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Starts after the current end. */
export function followFile(path: string) {
  let { inode, position } = stateOf(path);
  let rest = Buffer.alloc(0);
  return {
    /** Returns the complete lines written since the last call. */
    read(): string[] {
      const now = stateOf(path);
      const pieces: Buffer[] = [rest];
      if (now.inode !== inode) {
        // After rotation, the last lines of the former file are in the newest rotated one.
        const former = inode === undefined ? undefined : renamedTo(path, inode);
        if (former !== undefined) pieces.push(readFrom(former, position));
        ({ inode } = now);
        position = 0;
      } else if (now.position < position) position = 0;
      const added = readFrom(path, position);
      position += added.length;
      const bytes = Buffer.concat([...pieces, added]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      return end === 0
        ? []
        : bytes
            .subarray(0, end - 1)
            .toString('utf8')
            .split('\n');
    },
  };
}

function stateOf(path: string): { inode: number | undefined; position: number } {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return { inode: stat?.ino, position: stat?.size ?? 0 };
}

function renamedTo(path: string, inode: number): string | undefined {
  return filesOf(path).find(
    (file) => file !== path && fs.statSync(file, { throwIfNoEntry: false })?.ino === inode,
  );
}

function readFrom(path: string, position: number): Buffer {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const size = fs.fstatSync(descriptor).size - position;
    if (size <= 0) return Buffer.alloc(0);
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, size, position));
  } finally {
    fs.closeSync(descriptor);
  }
}
