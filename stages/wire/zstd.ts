/**
 * Zstandard for runtimes without it (RFC 8878), based on a small decoder in JavaScript. Works in
 * slices, so that neither a large body nor a decompression bomb blocks the event loop or fills the
 * memory.
 */
import { Transform } from 'node:stream';
import { Decompress } from 'fzstd';
import { payloadTooLarge } from '../model/errors.ts';
import { Expansion } from './expansion.ts';

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

/**
 * Opens a decoder. `maxBytes` is the limit of a whole body, for which a truncated one is an error;
 * without it, the limits of a response apply. Errors on bytes that are not zstd, and with
 * `payload_too_large` beyond `maxBytes`.
 */
export function createUnzstd(maxBytes?: number): Transform {
  const expansion = new Expansion(maxBytes);
  const tooLarge = (): Error =>
    maxBytes === undefined ? new Error('larger than any response') : payloadTooLarge(maxBytes);
  const maxWindowBytes = Math.max(MAX_WINDOW_BYTES, maxBytes ?? 0);
  const decoder = new Decompress((piece) => {
    // One chunk may be a decompression bomb, so this runs before all of its output is in memory.
    if (!expansion.out(piece)) throw tooLarge();
    stream.push(Buffer.from(piece));
  });
  const tryPush = (bytes: Buffer, isLast: boolean): Error | null => {
    try {
      decoder.push(bytes, isLast);
      return null;
    } catch (thrown) {
      return thrown instanceof Error ? thrown : new Error('not zstd');
    }
  };
  let isFirst = true;
  const stream = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      expansion.in(bytes);
      const window = isFirst ? windowBytes(bytes) : 0;
      isFirst = false;
      if (window === undefined) return done(new Error('no zstd frame'));
      if (window > maxWindowBytes) return done(tooLarge());
      const step = (at: number): void => {
        const end = at + SLICE_BYTES;
        const error = tryPush(bytes.subarray(at, end), false);
        if (error === null && end < bytes.length) setImmediate(step, end);
        else done(error);
      };
      step(0);
    },
    flush(done) {
      if (isFirst) done(new Error('no zstd frame'));
      else done(maxBytes === undefined ? null : tryPush(Buffer.alloc(0), true));
    },
  });
  return stream;
}
