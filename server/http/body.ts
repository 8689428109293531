/**
 * Collects a request body in memory and counts it as it arrives: the length that the client
 * declares is never trusted.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CancelSignal, SvcError } from '../../engine/index.ts';
import type { InFlight } from './in-flight.ts';
import { payloadTooLarge } from '../../stages/model/errors.ts';

const EMPTY = Buffer.alloc(0);
/** Messages whose bodies the parser could not read to the end. */
const broken = new WeakMap<IncomingMessage, SvcError>();
/**
 * Chunks are concatenated when there are this many: a chunk of one byte takes a hundred in memory.
 */
const MAX_PIECES = 1024;

/** Reports that the rest of this body cannot be read, to its current reader or a later one. */
export function breakBody(message: IncomingMessage, error: SvcError): void {
  broken.set(message, error);
  if (message.listenerCount('error') > 0) message.emit('error', error);
}

/** True if the rest of this body cannot be read. */
export function isBroken(message: IncomingMessage): boolean {
  return broken.has(message);
}

/**
 * Returns the whole body as received, synchronously if it is already there; sends `100 Continue` to
 * a client that waits for it. Rejects with `payload_too_large` above `maxBytes`, with `unavailable`
 * when too much is arriving at once, with `bad_request` when the rest does not arrive, and with the
 * signal's reason when the client leaves.
 */
export function collectBody(
  message: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  inFlight: InFlight,
  signal: CancelSignal,
): Buffer | Promise<Buffer> {
  const declared = Number(message.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(payloadTooLarge(maxBytes));
  if (declared === 0 && message.headers['transfer-encoding'] === undefined) {
    message.resume();
    return EMPTY;
  }
  const fault = broken.get(message);
  if (fault !== undefined) return Promise.reject(fault);
  if (expectsContinue(message)) response.writeContinue();
  const whole = wholeBody(message);
  if (whole !== undefined) {
    if (whole.length > maxBytes) return Promise.reject(payloadTooLarge(maxBytes));
    return whole;
  }
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let latest: Buffer[] = [];
    let sizeBytes = 0;
    const stop = () => done(() => reject(signal.reason));
    const arrival = inFlight.open((error) => done(() => reject(error)));
    const onData = (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) return done(() => reject(payloadTooLarge(maxBytes)));
      if (!arrival.add(piece.length)) return undefined;
      latest.push(piece);
      if (latest.length === MAX_PIECES) {
        pieces.push(Buffer.concat(latest));
        latest = [];
      }
      return undefined;
    };
    const onEnd = () => {
      const all = [...pieces, ...latest];
      const body = all.length === 1 ? all[0]! : Buffer.concat(all);
      done(() => resolve(body));
    };
    const onError = (error: Error) => done(() => reject(signal.aborted ? signal.reason : error));
    function done(settle: () => void): void {
      arrival.close();
      // The connection may stay open for as long as the client likes.
      pieces = [];
      latest = [];
      message.off('data', onData).off('end', onEnd).off('error', onError);
      signal.removeEventListener('abort', stop);
      // A late error of a message without a reader would otherwise be unhandled.
      message.on('error', () => undefined);
      settle();
    }
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    message.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

/** True for a client that waits for an interim response; HTTP/1.0 has none (RFC 9110 §15.2). */
export function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion !== '1.0';
}

/** A short body arrives with its head; reading it directly is cheaper than listening for chunks. */
function wholeBody(message: IncomingMessage): Buffer | undefined {
  if (!message.complete || message.readableFlowing === true) return undefined;
  const bytes: unknown = message.read();
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}
