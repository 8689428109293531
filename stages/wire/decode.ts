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

/** Decodes a response, or a copy of one that is passed through. */
export interface Decoder {
  /** Takes the next encoded bytes; the decoded bytes arrive later. False once any were lost. */
  push(bytes: Buffer): boolean;
  /** Resolves when all pushed bytes are decoded, for the one caller that can wait for that. */
  drained(): Promise<void>;
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
  const open = formatOf(layers);
  let stream: Transform | undefined;
  let beginning: Buffer = Buffer.alloc(0);
  const expansion = new Expansion();
  let isLost = false;
  let done: Promise<boolean> | undefined;
  let waiting = 0;
  let onDrained = (): void => undefined;
  const onDecoded = (): void => {
    waiting -= 1;
    if (waiting === 0) onDrained();
  };
  const take = (bytes: Buffer): void => {
    if (isLost) return;
    if (expansion.out(bytes)) return onBytes(bytes);
    isLost = true;
    stream?.destroy();
  };
  const decode = (bytes: Buffer): void => {
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
      // A write that failed is not called back.
      stream?.once('close', () => onDrained());
    }
    if (stream === undefined || stream.writableLength > MAX_WAITING_BYTES) {
      isLost = true;
      stream?.destroy();
    } else {
      waiting += 1;
      stream.write(input, onDecoded);
    }
  };
  return {
    push(bytes) {
      if (isLost || done !== undefined) return !isLost;
      if (layers.length === 0) onBytes(bytes);
      else decode(bytes);
      return !isLost;
    },
    drained: () =>
      waiting === 0 || stream?.closed === true
        ? Promise.resolve()
        : new Promise((resolve) => {
            onDrained = resolve;
          }),
    end() {
      if (isLost) return Promise.resolve(false);
      done ??= stream === undefined ? Promise.resolve(beginning.length === 0) : finish(stream);
      return done;
    },
  };
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
