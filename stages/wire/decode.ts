/**
 * Content encodings. Requests are decoded to be read, with a cap on the decoded size; responses are
 * decoded as a copy for metering only, and are passed on unchanged.
 */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { SvcError, isSvcError } from '../../engine/index.ts';
import { payloadTooLarge, printable, unsupportedMedia } from '../model/errors.ts';
import { Expansion } from './expansion.ts';
import { createUnzstd } from './zstd.ts';

/**
 * Opens a decoder, given the first bytes. `maxBytes` is the limit of a whole body, which is invalid
 * if it is truncated; without it, a truncated response yields the part that arrived.
 */
type Format = (first: Buffer, maxBytes?: number) => Transform;

/** Newer runtimes have zstd; the types of the oldest supported one do not. */
interface ZstdRuntime {
  readonly createZstdDecompress?: () => Transform;
}
const runtime: object = zlib;
const zstd = runtime as ZstdRuntime;

const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants;
/** Flushing at the end, rather than finishing, returns the content of a truncated response. */
const flushedIf = (isWhole: boolean, finishFlush: number): zlib.ZlibOptions =>
  isWhole ? {} : { finishFlush };

const gunzip: Format = (_, maxBytes) =>
  zlib.createGunzip(flushedIf(maxBytes !== undefined, Z_SYNC_FLUSH));

const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  [
    'deflate',
    (first, maxBytes) => {
      const options = flushedIf(maxBytes !== undefined, Z_SYNC_FLUSH);
      return hasZlibHeader(first) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
    },
  ],
  [
    'br',
    (_, maxBytes) =>
      zlib.createBrotliDecompress(flushedIf(maxBytes !== undefined, BROTLI_OPERATION_FLUSH)),
  ],
  ['zstd', (_, maxBytes) => zstd.createZstdDecompress?.() ?? createUnzstd(maxBytes)],
]);

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
  if (layers.length === 0) {
    if (bytes.length > maxBytes) throw payloadTooLarge(maxBytes);
    return bytes;
  }
  const named = layers.join(', ');
  const open = formatOf(layers);
  if (open === undefined)
    throw unsupportedMedia(`Content-Encoding '${printable(named)}' is not supported`);
  const stream = open(bytes, maxBytes);
  const expansion = new Expansion(maxBytes);
  const pieces: Buffer[] = [];
  return new Promise((resolve, reject) => {
    stream.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (!expansion.out(piece)) stream.destroy(payloadTooLarge(maxBytes));
    });
    stream.on('error', (cause) => {
      const isOurs = isSvcError(cause);
      const message = `The request body is not valid ${named}`;
      reject(isOurs ? cause : new SvcError('bad_request', message, { cause }));
    });
    stream.on('end', () => resolve(Buffer.concat(pieces)));
    stream.end(bytes);
  });
}

/** Returns the encodings named in a header field, without `identity`. */
function layersOf(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? '')
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
}

/** Returns the format of one layer; undefined for another encoding or several layers. */
function formatOf(layers: readonly string[]): Format | undefined {
  return layers.length === 1 ? FORMATS.get(layers[0]!) : undefined;
}

/**
 * Returns true if `createDecoder` supports this encoding: one layer of gzip, deflate, br or zstd.
 */
export function canDecode(contentEncoding: string): boolean {
  return formatOf(layersOf(contentEncoding)) !== undefined;
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
  if (layers.length === 0) return { push: onBytes, end: () => Promise.resolve(true) };
  const open = formatOf(layers);
  const lost = Promise.resolve(false);
  let stream: Transform | undefined;
  let beginning: Buffer = Buffer.alloc(0);
  const expansion = new Expansion();
  let isLost = open === undefined;
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
        stream = open?.(beginning);
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

/**
 * Opens a stream that decodes a response for a client that never received `contentEncoding`;
 * `first` are the response's first bytes. Undefined for an unsupported encoding. It errors on bytes
 * that do not match the header; a truncated stream yields the part that arrived.
 */
export function openDecoding(
  contentEncoding: string | undefined,
  first: Buffer,
): Transform | undefined {
  return formatOf(layersOf(contentEncoding))?.(first);
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
