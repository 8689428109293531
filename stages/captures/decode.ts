/**
 * Reads capture files. They may come from anywhere, so they are checked. A record that was cut
 * short by a crash ends the reading, and the earlier ones are returned.
 */
import { decodeMulti } from '@msgpack/msgpack';
import { type } from 'arktype';
import { SvcError } from '../../engine/index.ts';
import { reasonOf } from '../disk-reason.ts';
import { CAPTURE_VERSION } from './encode.ts';
import { captureFiles, readCaptureFile } from './files.ts';
import { recordType } from './record-type.ts';
import type { CaptureRecord } from './record.ts';

/** Own records are less deep, and foreign files must not be deeper. */
const MAX_DEPTH = 12;

/**
 * Returns the records in `file`, as far as they can be read; `rest` is set if the rest could not be
 * read: the last record was cut short, or is invalid.
 *
 * @throws SvcError `bad_request` if not even the first record is valid.
 */
export function decodeRecords(file: Uint8Array) {
  const records: CaptureRecord[] = [];
  try {
    for (const value of decodeMulti(file)) records.push(checkRecord(value));
  } catch (thrown) {
    const isCut = thrown instanceof RangeError;
    const why = isCut ? 'it was cut short' : reasonOf(thrown);
    const rest = `record ${records.length + 1} cannot be read: ${why}`;
    if (records.length > 0 || isCut) return { records, rest };
    throw new SvcError('bad_request', `Not a capture file: ${why}`, { cause: thrown });
  }
  return { records, rest: undefined };
}

function checkRecord(value: unknown): CaptureRecord {
  const { v, record, blobs } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (v !== CAPTURE_VERSION)
    throw new Error(
      v === undefined ? 'it has another format' : `its version is ${JSON.stringify(v)}`,
    );
  if (!Array.isArray(blobs)) throw new Error('its bytes are missing');
  const found = recordType(unpack(record, blobs, 0));
  if (found instanceof type.errors) throw new Error(found.summary.split('\n', 1)[0]);
  return found;
}

function unpack(value: unknown, blobs: readonly unknown[], depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Error('it nests too deep');
  if (Array.isArray(value)) return value.map((item) => unpack(item, blobs, depth + 1));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if ('blob' in value) return blobs[Number(value.blob)];
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, unpack(item, blobs, depth + 1)]),
  );
}

/**
 * Returns every record in `folder`, oldest file first, and the reasons why others could not be
 * read.
 */
export function readCaptures(folder: string): {
  readonly records: readonly CaptureRecord[];
  readonly faults: readonly string[];
} {
  const records: CaptureRecord[] = [];
  const faults: string[] = [];
  for (const { path } of captureFiles(folder)) {
    try {
      const found = decodeRecords(readCaptureFile(path));
      records.push(...found.records);
      if (found.rest !== undefined) faults.push(`${path}: ${found.rest}`);
    } catch (thrown) {
      faults.push(`${path}: ${reasonOf(thrown)}`);
    }
  }
  return { records: records.toSorted((a, b) => a.startedMs - b.startedMs), faults };
}
