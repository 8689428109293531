/**
 * Who owns the file at the ledger's path, by its first bytes alone: opening another program's
 * database can already change it.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { APPLICATION_ID } from '../tables.ts';

/**
 * `blank`: no file, an empty one, or a database without a table. `damaged`: an SQLite file whose
 * header is otherwise unreadable, or zeros next to a lock that svc has left.
 */
export type Owner = 'blank' | 'ours' | 'damaged' | 'foreign';

const MAGIC = 'SQLite format 3\0';
/**
 * The database header and the head of the following page of tables (sqlite.org/fileformat2.html).
 */
const HEADER_BYTES = 108;
/** Three bytes with a fixed value. */
const PAYLOAD_FRACTIONS = [64, 32, 32] as const;
const PAYLOAD_AT = 21;
const OWNER_AT = 68;
const TABLE_CELLS_AT = 103;

/**
 * Returns whose file it is. Follows a link; changes nothing. Throws the error of the file system.
 */
export function ownerOf(file: string): Owner {
  const header = headerOf(file);
  if (header.length === 0) return 'blank';
  // A power cut can leave blocks that were never written, which read as zeros.
  if (header.every((byte) => byte === 0) && existsSync(`${file}.lock`)) return 'damaged';
  if (header.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) return 'foreign';
  if (header.length < HEADER_BYTES) return 'damaged';
  if (header.readUInt32BE(OWNER_AT) === APPLICATION_ID) return 'ours';
  const isSound = PAYLOAD_FRACTIONS.every((value, at) => header[PAYLOAD_AT + at] === value);
  if (!isSound) return 'damaged';
  const isEmpty = header.readUInt32BE(OWNER_AT) === 0 && header.readUInt16BE(TABLE_CELLS_AT) === 0;
  return isEmpty && !hasBytes(`${file}-wal`) ? 'blank' : 'foreign';
}

function headerOf(file: string): Buffer {
  const handle = hasBytes(file) ? openIfThere(file) : undefined;
  if (handle === undefined) return Buffer.alloc(0);
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(handle, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(handle);
  }
}

/** Undefined if another process has moved the file since its size was checked. */
function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function hasBytes(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
