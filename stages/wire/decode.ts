/**
 * Content encodings. Requests are decoded so that they can be read, with a cap on what
 * comes out; answers are decoded as a copy for metering only, and go on as they came.
 */
import { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { SvcError } from '../../engine/index.ts';
import { payloadTooLarge, printable, unsupportedMedia } from '../model/errors.ts';
import { Expansion } from './expansion.ts';
import { createZstdCopy, unzstd } from './zstd.ts';

interface BodyOptions {
  readonly maxOutputLength: number;
}

type Unpack = (
  bytes: Buffer,
  options: BodyOptions,
  done: (error: Error | null, decoded: Buffer) => void,
) => void;

/** How what is encoded in one way is read: whole, or as it comes. */
interface Format {
  readonly unpack: Unpack;
  readonly open: () => Transform;
}

/** Newer runtimes have zstd; the types of the oldest that we support do not. */
interface ZstdRuntime {
  readonly zstdDecompress?: Unpack;
  readonly createZstdDecompress?: () => Transform;
}
const runtime: object = zlib;
const zstd = runtime as ZstdRuntime;

/**
 * The body behind one layer of `Content-Encoding` (gzip, deflate, br, zstd), decoded off the event loop; the same buffer where nothing is encoded.
 * Throws `unsupported_media_type` for another encoding or several layers,
 * `payload_too_large` once more than `maxBytes` come out, and `bad_request` for bytes that
 * are not what the header says.
 */
export async function decodeBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const layers = layersOf(contentEncoding);
  const encoding = layers[0];
  if (encoding === undefined) {
    if (bytes.length > maxBytes) throw payloadTooLarge(maxBytes);
    return bytes;
  }
  const format = layers.length > 1 ? undefined : formatOf(encoding, bytes);
  if (format === undefined) {
    throw unsupportedMedia(`Content-Encoding '${printable(layers.join(', '))}' is not supported`);
  }
  return new Promise((resolve, reject) => {
    format.unpack(bytes, { maxOutputLength: maxBytes }, (error, decoded) => {
      if (error === null) resolve(decoded);
      else if (isTooLarge(error)) reject(payloadTooLarge(maxBytes));
      else reject(corrupt(encoding, error));
    });
  });
}

/** The encodings named in a header field, `identity` left out. */
function layersOf(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? '')
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
}

/** True if `createDecoder` reads this encoding: one layer of gzip, deflate, br or zstd. */
export function canDecode(contentEncoding: string): boolean {
  const layers = layersOf(contentEncoding);
  return layers.length === 1 && formatOf(layers[0]!, NOTHING) !== undefined;
}

const NOTHING: Buffer = Buffer.alloc(0);
/** Flushing at the end, rather than finishing, lets an answer that broke off give what it had. */
const FLUSHED = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BROTLI_FLUSHED = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };

/** The format of an encoding; `first` are the first bytes. Undefined for one that we do not read. */
function formatOf(encoding: string, first: Buffer): Format | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return { unpack: zlib.gunzip, open: () => zlib.createGunzip(FLUSHED) };
    case 'deflate':
      return hasZlibHeader(first)
        ? { unpack: zlib.inflate, open: () => zlib.createInflate(FLUSHED) }
        : { unpack: zlib.inflateRaw, open: () => zlib.createInflateRaw(FLUSHED) };
    case 'br':
      return {
        unpack: zlib.brotliDecompress,
        open: () => zlib.createBrotliDecompress(BROTLI_FLUSHED),
      };
    case 'zstd':
      return {
        unpack: zstd.zstdDecompress ?? unzstd,
        open: zstd.createZstdDecompress ?? createUnzstd,
      };
    default:
      return undefined;
  }
}

/** For runtimes whose zlib has no zstd: decodes in this thread, which suits the size of an answer. */
function createUnzstd(): Transform {
  const expansion = new Expansion();
  // One piece may hold a bomb: here, before all that it becomes is in memory.
  const copy = createZstdCopy((bytes) => {
    if (!expansion.out(bytes)) throw new Error('it becomes more than an answer has');
    stream.push(bytes);
  });
  const stream = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      expansion.in(bytes);
      try {
        copy.push(bytes);
        done();
      } catch (thrown) {
        done(thrown instanceof Error ? thrown : new Error('not zstd'));
      }
    },
  });
  return stream;
}

/** `deflate` means the zlib format (RFC 9110 §8.4.1.2), yet some senders leave its header out. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return true;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

function isTooLarge(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

function corrupt(encoding: string, cause: Error): SvcError {
  return new SvcError('bad_request', `The request body is not valid ${encoding}`, { cause });
}

/** Decodes a copy of an answer while it is passed through. */
export interface Decoder {
  /** Takes the next encoded bytes; what they decode to arrives later. */
  push(bytes: Buffer): void;
  /** Resolves when everything that was pushed has been handed over, true if nothing was lost. Never rejects. */
  end(): Promise<boolean>;
}

/**
 * How much encoded input may wait for zlib's threads. A copy that lags further behind is
 * given up: the answer itself must not wait for it.
 */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * A decoder that hands `onBytes` what `contentEncoding` hides. It never throws: bytes that
 * cannot be decoded, or an encoding that we do not read, end in `end()` giving false.
 * A stream that breaks off midway gives what arrived; one that becomes larger than an answer is
 * given up there.
 */
export function createDecoder(
  contentEncoding: string | undefined,
  onBytes: (bytes: Buffer) => void,
): Decoder {
  const layers = layersOf(contentEncoding);
  const encoding = layers[0];
  if (encoding === undefined) return createPlainDecoder(onBytes);
  const lost = Promise.resolve(false);
  let stream: Transform | undefined;
  let beginning = NOTHING;
  const expansion = new Expansion();
  let isLost = layers.length > 1;
  let done: Promise<boolean> | undefined;
  const take = (bytes: Buffer): void => {
    if (isLost) return;
    if (expansion.out(bytes)) return onBytes(bytes);
    isLost = true;
    stream?.destroy();
  };
  return {
    push(bytes) {
      if (isLost || done !== undefined) return;
      expansion.in(bytes);
      let input = bytes;
      if (stream === undefined) {
        // Two bytes show what kind of deflate it is.
        beginning = input = Buffer.concat([beginning, bytes]);
        if (beginning.length < 2) return;
        stream = formatOf(encoding, beginning)?.open();
        stream?.on('data', take);
        stream?.on('error', () => {
          isLost = true;
        });
      }
      if (stream === undefined || stream.writableLength > MAX_WAITING_BYTES) {
        isLost = true;
        stream?.destroy();
      } else {
        stream.write(input);
      }
    },
    end() {
      if (isLost) return lost;
      done ??= stream === undefined ? Promise.resolve(beginning.length === 0) : finish(stream);
      return done;
    },
  };
}

function createPlainDecoder(onBytes: (bytes: Buffer) => void): Decoder {
  return { push: onBytes, end: () => Promise.resolve(true) };
}

/**
 * A stream that decodes an answer for a client that never received `contentEncoding`; `first`
 * are the answer's first bytes. Undefined for an encoding that we do not read. It errors on bytes
 * that are not what the head says; what breaks off gives what arrived.
 */
export function openDecoding(
  contentEncoding: string | undefined,
  first: Buffer,
): Transform | undefined {
  const [encoding, more] = layersOf(contentEncoding);
  if (encoding === undefined || more !== undefined) return undefined;
  return formatOf(encoding, first)?.open();
}

function finish(stream: Transform): Promise<boolean> {
  // Bytes behind the encoded data can close a stream before anybody asks for its end.
  if (stream.readableEnded || stream.closed) return Promise.resolve(stream.readableEnded);
  return new Promise((resolve) => {
    stream.once('end', () => resolve(true));
    stream.once('close', () => resolve(false));
    stream.end();
  });
}
