/**
 * A cached response as one file: a magic number, the SHA-256 of everything that follows, the length
 * of a JSON header, the header, and the answer's bytes. The hash distinguishes a torn or damaged
 * file from a good one, whatever happened to the disk.
 */
import { createHash } from 'node:crypto';
import type { Usage } from '../model/usage.ts';
import type { KeptAnswer } from './answer.ts';

/** An answer with the store's metadata. */
export interface StoredAnswer {
  readonly key: string;
  /** Wall time in milliseconds: files outlive the process, and its monotonic clock. */
  readonly keptAtMs: number;
  readonly answer: KeptAnswer;
}

const MAGIC = Buffer.from('svc-answer-1\n');
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;
const PREFIX_BYTES = MAGIC.length + HASH_BYTES + LENGTH_BYTES;

interface Header {
  readonly key: string;
  readonly keptAtMs: number;
  readonly status: number;
  readonly headers: string[];
  readonly streaming: boolean;
  readonly usage?: Usage | undefined;
  /** Lengths of the chunks, in order. */
  readonly lengths: number[];
}

/** Returns the bytes of a file. */
export function encodeAnswer({ key, keptAtMs, answer }: StoredAnswer): Buffer {
  const { status, headers, streaming, usage, chunks } = answer;
  const lengths = chunks.map((chunk) => chunk.length);
  const about = { key, keptAtMs, status, headers: [...headers], streaming };
  const header: Header = { ...about, usage, lengths };
  const headerBytes = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(headerBytes.length);
  const rest = Buffer.concat([length, headerBytes, ...chunks]);
  return Buffer.concat([MAGIC, createHash('sha256').update(rest).digest(), rest]);
}

/**
 * Returns the content of a file; undefined for anything that `encodeAnswer` did not write in full.
 */
export function decodeAnswer(file: Buffer): StoredAnswer | undefined {
  if (file.length < PREFIX_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const rest = file.subarray(MAGIC.length + HASH_BYTES);
  const hash = createHash('sha256').update(rest).digest();
  if (!hash.equals(file.subarray(MAGIC.length, MAGIC.length + HASH_BYTES))) return undefined;
  const bodyStart = LENGTH_BYTES + rest.readUInt32BE(0);
  // The hash was right, so this is a header of ours.
  const header = JSON.parse(rest.toString('utf8', LENGTH_BYTES, bodyStart)) as Header;
  const { key, keptAtMs, lengths, ...head } = header;
  let start = bodyStart;
  const chunks = lengths.map((length) => rest.subarray(start, (start += length)));
  return { key, keptAtMs, answer: Object.freeze({ ...head, chunks: Object.freeze(chunks) }) };
}
