/**
 * Zstandard for runtimes without it (RFC 8878), based on a small decoder in JavaScript. Works in
 * slices, so that neither a large body nor a decompression bomb blocks the event loop or fills the
 * memory.
 */
import { Decompress } from 'fzstd';

/** A frame may request a window of gigabytes; encoders use 8 MiB by default. */
const MAX_WINDOW_BYTES = 64 * 1024 * 1024;
const SLICE_BYTES = 32 * 1024;
const MAGIC = 0xfd2fb528;

/** Returns the window size of the first frame, in bytes; undefined if the bytes are not a frame. */
function windowBytes(bytes: Buffer): number | undefined {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = bytes[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (!isSingleSegment) {
    const window = bytes[5]!;
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 7);
  }
  const idBytes = [0, 1, 2, 4][descriptor & 3]!;
  const sizeBytes = [1, 2, 4, 8][descriptor >> 6]!;
  const at = 5 + idBytes;
  if (bytes.length < at + sizeBytes) return undefined;
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}

class TooLarge extends Error {
  readonly code = 'ERR_BUFFER_TOO_LARGE';
}

/**
 * Decodes a whole body; `done` receives an error with `ERR_BUFFER_TOO_LARGE` once the output
 * exceeds `maxOutputLength`.
 */
export function unzstd(
  bytes: Buffer,
  { maxOutputLength }: { readonly maxOutputLength: number },
  done: (error: Error | null, decoded: Buffer) => void,
): void {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  const stream = new Decompress((piece) => {
    sizeBytes += piece.length;
    if (sizeBytes > maxOutputLength) throw new TooLarge('too much came out');
    pieces.push(Buffer.from(piece));
  });
  const window = windowBytes(bytes);
  if (window === undefined) return done(new Error('no zstd frame'), Buffer.alloc(0));
  if (window > Math.max(MAX_WINDOW_BYTES, maxOutputLength)) {
    return done(new TooLarge('the window is too large'), Buffer.alloc(0));
  }
  const step = (at: number): void => {
    const end = Math.min(at + SLICE_BYTES, bytes.length);
    try {
      stream.push(bytes.subarray(at, end), end === bytes.length);
    } catch (thrown) {
      done(thrown instanceof Error ? thrown : new Error('not zstd'), Buffer.alloc(0));
      return;
    }
    if (end < bytes.length) setImmediate(step, end);
    else done(null, Buffer.concat(pieces));
  };
  step(0);
}

/** Creates a streaming decoder for the copy of a response. Throws on bytes that are not zstd. */
export function createZstdCopy(onBytes: (bytes: Buffer) => void): {
  push(bytes: Buffer): void;
} {
  const stream = new Decompress((piece) => onBytes(Buffer.from(piece)));
  let isFirst = true;
  return {
    push(bytes) {
      if (isFirst && (windowBytes(bytes) ?? Number.MAX_VALUE) > MAX_WINDOW_BYTES) {
        throw new Error('no zstd frame with a window that we hold');
      }
      isFirst = false;
      stream.push(bytes, false);
    },
  };
}
