/**
 * From a provider's response to an answer: a short document is collected and sent in one piece,
 * everything else is a web stream that reads from the socket on demand.
 */
import type { Answer, Clock, WholeAnswer } from '../../../engine/index.ts';
import type { UsageRequest } from '../../model/dialect.ts';
import { END, toChunk } from '../../model/frame.ts';
import type { ChunkFrame, HeadFrame, ProxyFrame } from '../../model/frame.ts';
import { contentType, headerValue } from '../../model/headers.ts';
import type { ResponseBody } from '../../providers/response-body.ts';
import { withErrorTimeout } from './error-body.ts';

/** A document up to this size is collected: a stream would cost more than the wait. */
export const MAX_GATHERED_BYTES = 256 * 1024;

/** Returns true if the answer is one JSON document, whose length is not known to be large. */
export function isDocument(head: HeadFrame): boolean {
  if (head.streaming) return false;
  const { dialect, facts } = head.request.original;
  // Such a stream may be a JSON list of events.
  if (dialect.isStreamInPath && facts.stream && head.status < 400) return false;
  if (
    !contentType(head.headers).includes('json') &&
    headerValue(head.headers, 'content-length') !== '0'
  )
    return false;
  const declared = Number(headerValue(head.headers, 'content-length') ?? 0);
  return declared <= MAX_GATHERED_BYTES;
}

/** Returns true if the response cannot have a body, whatever its headers say. */
export function isBodiless(status: number, method: string): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/** Returns the answer as it arrives: head, chunks, end. */
export function framesOf(head: HeadFrame, body: ResponseBody): ReadableStream<ProxyFrame> {
  return body.stream<ProxyFrame>({ before: [head], each: toChunk, after: [END] });
}

/**
 * Reads a document to its end: head, at most one chunk, end. One that outgrows the limit, or an
 * error that does not end, continues as a stream. Rejects if the document breaks off: nothing of it
 * has been sent yet.
 */
export async function gather(
  head: HeadFrame,
  body: ResponseBody,
  clock: Clock,
): Promise<Answer<ProxyFrame>> {
  const beginning = (late?: Promise<void>) => body.beginning(MAX_GATHERED_BYTES + 1, late);
  const { bytes, error } = await (head.status < 400
    ? beginning()
    : withErrorTimeout(clock, beginning));
  if (error !== undefined) throw error;
  return body.arrived().isWhole ? wholeOf(head, bytes) : framesOf(head, body);
}

/** Makes a whole answer. */
export function wholeOf(head: HeadFrame, bytes: Buffer): WholeAnswer<ProxyFrame> {
  return bytes.length === 0 ? [head, END] : [head, toChunk(bytes), END];
}

/**
 * Makes a chunk of whole events, without those caused only by `added`, which the meter still reads.
 * One chunk: a second would be lost if the provider breaks off before it is read.
 */
export function chunksWithout(added: UsageRequest | undefined): (bytes: Buffer) => ChunkFrame {
  if (added === undefined) return toChunk;
  return (metered) => {
    const kept = added.without(metered);
    if (kept[0] === metered) return toChunk(metered);
    return Object.freeze({ kind: 'chunk', bytes: Buffer.concat(kept), metered });
  };
}
