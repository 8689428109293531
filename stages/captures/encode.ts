/**
 * Encodes records as msgpack, one after the other. Identical bytes in a record, such as a body that
 * was sent unchanged, are stored once.
 */
import { encode } from '@msgpack/msgpack';
import type { CaptureRecord } from './record.ts';

/** The version of the format; files of other versions are not read. */
export const CAPTURE_VERSION = 1;
/** Shorter byte sequences are not deduplicated. */
const SHARED_BYTES = 64;

interface Blob {
  readonly blob: number;
}

/** Encodes a record for appending to a file. */
export function encodeRecord(record: CaptureRecord): Uint8Array {
  const blobs: Uint8Array[] = [];
  return encode({ v: CAPTURE_VERSION, record: pack(record, blobs), blobs });
}

function pack(value: unknown, blobs: Uint8Array[]): unknown {
  if (value instanceof Uint8Array) return { blob: blobIndex(value, blobs) } satisfies Blob;
  if (Array.isArray(value)) return value.map((item) => pack(item, blobs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, pack(item, blobs)]));
}

function blobIndex(value: Uint8Array, blobs: Uint8Array[]): number {
  const same =
    value.length < SHARED_BYTES ? -1 : blobs.findIndex((blob) => Buffer.compare(blob, value) === 0);
  return same >= 0 ? same : blobs.push(value) - 1;
}
