/**
 * Content encodings. Requests are decoded to be read, with a cap on the decoded size; responses are
 * decoded as a copy for metering only, and are passed on unchanged.
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

/** The decoders of one encoding: for a whole body, and for a stream. */
interface Format {
  readonly unpack: Unpack;
  readonly open: () => Transform;
}

/** Newer runtimes have zstd; the types of the oldest supported one do not. */
interface ZstdRuntime {
  readonly zstdDecompress?: Unpack;
  readonly createZstdDecompress?: () => Transform;
}
const runtime: object = zlib;
const zstd = runtime as ZstdRuntime;

/**
 * Decodes one layer of `Content-Encoding` (gzip, deflate, br, zstd) off the event loop; returns the
 * same buffer where nothing is encoded. Throws `unsupported_media_type` for another encoding or
 * several layers, `payload_too_large` once the decoded size exceeds `maxBytes`, and `bad_request`
 * for bytes that do not match the header.
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

/** Returns the encodings named in a header field, without `identity`. */
function layersOf(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? '')
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
}

/**
 * Returns true if `createDecoder` supports this encoding: one layer of gzip, deflate, br or zstd.
 */
export function canDecode(contentEncoding: string): boolean {
  const layers = layersOf(contentEncoding);
  return layers.length === 1 && formatOf(layers[0]!, NOTHING) !== undefined;
}

const NOTHING: Buffer = Buffer.alloc(0);
/** Flushing at the end, rather than finishing, returns the content of a truncated response. */
const FLUSHED = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BROTLI_FLUSHED = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };

/**
 * Returns the format of an encoding; `first` are the first bytes. Undefined for an unsupported one.
 */
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

/**
 * For runtimes without zstd in zlib: decodes in this thread, which is fast enough for a response.
 */
function createUnzstd(): Transform {
  const expansion = new Expansion();
  // One chunk may be a decompression bomb, so this runs before all of its output is in memory.
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

/**
 * Returns whether the bytes have a zlib header; `deflate` means that format (RFC 9110 §8.4.1.2),
 * but some senders omit it.
 */
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

/** Decodes a copy of a response while it is passed through. */
export interface Decoder {
  /** Takes the next encoded bytes; the decoded bytes arrive later. */
  push(bytes: Buffer): void;
  /**
   * Resolves once all pushed bytes are decoded and delivered, true if nothing was lost. Never
   * rejects.
   */
  end(): Promise<boolean>;
}

/**
 * How much encoded input may wait for zlib's threads. A copy that falls further behind is
 * abandoned: the response itself must not wait for it.
 */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Creates a decoder that calls `onBytes` with the decoded bytes. It never throws: after undecodable
 * bytes, or for an unsupported encoding, `end()` resolves to false. A truncated stream yields the
 * part that arrived; one that expands beyond the size of any response is abandoned there.
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
        // Two bytes tell which kind of deflate it is.
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
 * Opens a stream that decodes a response for a client that never received `contentEncoding`;
 * `first` are the response's first bytes. Undefined for an unsupported encoding. It errors on bytes
 * that do not match the header; a truncated stream yields the part that arrived.
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
  // Trailing bytes after the encoded data can close a stream before its end is awaited.
  if (stream.readableEnded || stream.closed) return Promise.resolve(stream.readableEnded);
  return new Promise((resolve) => {
    stream.once('end', () => resolve(true));
    stream.once('close', () => resolve(false));
    stream.end();
  });
}
