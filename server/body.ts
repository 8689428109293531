/**
 * Collects a request body in memory, counting while it arrives: what a client
 * declares about its length is never trusted.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CancelSignal, SvcError } from '../engine/index.ts';
import { malformedRequest, payloadTooLarge } from '../stages/model/errors.ts';

const EMPTY = Buffer.alloc(0);
/** Messages of which the parser could read no more. */
const broken = new WeakMap<IncomingMessage, SvcError>();
/** Longest silence inside a body. Without a limit, clients that never finish would pile up. */
const MAX_SILENCE_MS = 30_000;

/** Tells whoever reads this body, now or later, that no more of it can be read. */
export function breakBody(message: IncomingMessage, error: SvcError): void {
  broken.set(message, error);
  if (message.listenerCount('error') > 0) message.emit('error', error);
}

/**
 * The whole body as it was on the wire, at once if it is there; a client that waits for it is told to go on. Rejects with `payload_too_large` above
 * `maxBytes`, with `bad_request` when the rest does not come, and with the signal's reason when the
 * client leaves.
 */
export function collectBody(
  message: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
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
  // HTTP/1.0 knows no interim answers.
  if (message.headers.expect !== undefined && message.httpVersion !== '1.0') {
    response.writeContinue();
  }
  const whole = wholeBody(message);
  if (whole !== undefined) {
    if (whole.length > maxBytes) return Promise.reject(payloadTooLarge(maxBytes));
    return whole;
  }
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    const stop = () => done(() => reject(signal.reason));
    const silence = setTimeout(() => {
      done(() => reject(malformedRequest('The rest of the request body did not arrive')));
    }, MAX_SILENCE_MS);
    const onData = (piece: Buffer) => {
      silence.refresh();
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) done(() => reject(payloadTooLarge(maxBytes)));
      else pieces.push(piece);
    };
    const onEnd = () =>
      done(() => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    const onError = (error: Error) => done(() => reject(signal.aborted ? signal.reason : error));
    function done(settle: () => void): void {
      clearTimeout(silence);
      message.off('data', onData).off('end', onEnd).off('error', onError);
      signal.removeEventListener('abort', stop);
      // A late fault of a message that nobody reads any more has no one to go to.
      message.on('error', () => undefined);
      settle();
    }
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    message.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

/** A short body is there with its head. To listen for its pieces would cost more than reading it. */
function wholeBody(message: IncomingMessage): Buffer | undefined {
  if (!message.complete || message.readableFlowing === true) return undefined;
  const bytes: unknown = message.read();
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}
