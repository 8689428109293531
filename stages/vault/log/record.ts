/**
 * One record of the log: a header line in JSON, then, for a record with blocks, one line of JSON
 * that describes them and one JSON string per line with their texts.
 *
 * The header states how many bytes follow and ends in a CRC-32 over the whole record, so a record
 * is either complete or does not exist: appending one is the transaction. A later record for the
 * same file replaces the earlier one.
 */
import { crc32 } from 'node:zlib';
import type { StoredBlock } from '../block.ts';

/**
 * Incremented when the meaning of a record or the terms of a text change; older logs are rebuilt.
 */
export const FORMAT = 2;

/** The first record of every log. `id` distinguishes logs at the same path. */
export interface LogHeader {
  readonly record: 'log';
  readonly format: number;
  readonly id: string;
}

/** All blocks of a file. Times in milliseconds since the epoch. */
export interface FileHeader {
  readonly record: 'file';
  readonly root: string;
  readonly path: string;
  /** SHA-256 of the file's bytes, hex. */
  readonly hash: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** When the file was read, to recognize a change within the file system's clock tick. */
  readonly seenMs: number;
  readonly meta: number;
  readonly text: number;
}

/** Unchanged content with a new time stamp. */
export interface TouchHeader extends Pick<
  FileHeader,
  'root' | 'path' | 'size' | 'mtimeMs' | 'seenMs'
> {
  readonly record: 'touch';
}

/** A file that is no longer part of the vault. */
export interface DropHeader {
  readonly record: 'drop';
  readonly root: string;
  readonly path: string;
}

/**
 * A folder that must be reread at least in part: files last read at `rereadMs` or earlier, and
 * files that the log has lost. Without `rereadMs` that has been done. In milliseconds since the
 * epoch; 0 when only lost files are owed.
 */
export interface RootHeader {
  readonly record: 'root';
  readonly root: string;
  readonly rereadMs?: number;
}

/** A block ingested at run time. */
export interface IngestHeader extends Pick<FileHeader, 'path' | 'meta' | 'text'> {
  readonly record: 'block';
}

export type Header = LogHeader | FileHeader | TouchHeader | DropHeader | RootHeader | IngestHeader;

/**
 * A record within a buffer: `end` is the offset after it, `metaAt` and `textAt` are the starts of
 * its parts.
 */
export interface Framed {
  readonly header: Header;
  readonly metaAt: number;
  readonly textAt: number;
  readonly end: number;
}

/** `incomplete` needs more bytes; `corrupt` is beyond repair. */
export type Parsed = Framed | 'incomplete' | 'corrupt';

/** Headers are short; a longer first line is garbage, not an incomplete record. */
const MAX_HEADER_BYTES = 16_384;
const NEWLINE = 10;
const CRC_MARK = ',"crc":"';
const SEAL_END = '"}\n';
/** Size of the checksum field and the end of the header. */
const SEAL_BYTES = CRC_MARK.length + 8 + SEAL_END.length;

/** Encodes a record without blocks. */
export function encodeNotice(header: LogHeader | TouchHeader | DropHeader | RootHeader): Buffer {
  return seal(header, []);
}

/** Encodes a record with blocks. The positions of `blocks` are filled in here. */
export function encodeBlocks(
  header: Omit<FileHeader, 'meta' | 'text'> | Omit<IngestHeader, 'meta' | 'text'>,
  blocks: readonly { block: Omit<StoredBlock, 'at' | 'bytes'>; content: string }[],
): Buffer {
  const texts: Line[] = [];
  let text = 0;
  const metas = blocks.map(({ block, content }): StoredBlock => {
    const line = toLine(JSON.stringify(content));
    texts.push(line);
    const at = text;
    text += line.bytes;
    return { ...block, at, bytes: line.bytes - 1 };
  });
  const meta = toLine(JSON.stringify(metas));
  return seal({ ...header, meta: meta.bytes, text }, [meta, ...texts]);
}

/** Reads the record that begins at `at`. */
export function parseRecord(buffer: Buffer, at: number): Parsed {
  const newline = buffer.indexOf(NEWLINE, at);
  if (newline === -1) return buffer.length - at > MAX_HEADER_BYTES ? 'corrupt' : 'incomplete';
  if (newline - at > MAX_HEADER_BYTES) return 'corrupt';
  const line = buffer.toString('utf8', at, newline);
  const mark = line.lastIndexOf(CRC_MARK);
  if (!line.startsWith('{"record":"') || mark === -1) return 'corrupt';
  let header: Header;
  try {
    header = JSON.parse(line) as Header;
  } catch {
    return 'corrupt';
  }
  const metaAt = newline + 1;
  const [meta, text] = 'meta' in header ? [header.meta, header.text] : [0, 0];
  const end = metaAt + meta + text;
  if (!Number.isSafeInteger(end) || end < metaAt) return 'corrupt';
  if (end > buffer.length) return 'incomplete';
  const sum = crc32(buffer.subarray(metaAt, end), crc32(line.slice(0, mark)));
  if (hex(sum) !== line.slice(mark + CRC_MARK.length, -2)) return 'corrupt';
  return { header, metaAt, textAt: metaAt + meta, end };
}

/** Returns the blocks that a record describes. */
export function blocksOf(buffer: Buffer, framed: Framed): StoredBlock[] {
  if (framed.textAt === framed.metaAt) return [];
  return JSON.parse(buffer.toString('utf8', framed.metaAt, framed.textAt)) as StoredBlock[];
}

/**
 * Returns the next possible start of a record, from `at` on; -1 when there is none. Only header
 * lines start this way: all other lines of the log are arrays or strings.
 */
export function nextRecord(buffer: Buffer, at: number): number {
  const found = buffer.indexOf('\n{"record":"', Math.max(0, at - 1));
  return found === -1 ? -1 : found + 1;
}

/** Returns a record's key: a later record with the same key replaces it. */
export function keyOf(header: Exclude<Header, LogHeader>, blocks: readonly StoredBlock[]): string {
  if (header.record === 'block') return `\0${blocks[0]?.id ?? ''}`;
  // No file has an empty path.
  return fileKey(header.root, header.record === 'root' ? '' : header.path);
}

/** Returns the key of a file's records. */
export function fileKey(root: string, path: string): string {
  return `${root}\0${path}`;
}

/** A line of a record, with its line break, and its size in bytes. */
interface Line {
  readonly line: string;
  readonly bytes: number;
}

function toLine(json: string): Line {
  const line = `${json}\n`;
  return { line, bytes: Buffer.byteLength(line) };
}

/** Builds a record in one buffer; space for the checksum is reserved before it is known. */
function seal(header: object, lines: readonly Line[]): Buffer {
  const open = JSON.stringify(header).slice(0, -1);
  const openBytes = Buffer.byteLength(open);
  const bodyAt = openBytes + SEAL_BYTES;
  const size = lines.reduce((sum, { bytes }) => sum + bytes, bodyAt);
  const record = Buffer.allocUnsafe(size);
  record.write(open);
  let at = bodyAt;
  for (const { line } of lines) at += record.write(line, at);
  const sum = crc32(record.subarray(bodyAt), crc32(record.subarray(0, openBytes)));
  record.write(`${CRC_MARK}${hex(sum)}${SEAL_END}`, openBytes, 'latin1');
  return record;
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}
