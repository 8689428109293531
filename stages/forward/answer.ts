/**
 * From a provider's response to an answer: a short document is gathered and
 * sent in one piece, everything else is a live stream that reads from the socket
 * only when somebody reads from it.
 */
import type { Answer, Source, WholeAnswer } from '../../engine/index.ts';
import type { UsageRequest } from '../model/dialect.ts';
import { END, toChunk } from '../model/frame.ts';
import type { ChunkFrame, HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';

const NOTHING = Buffer.alloc(0);
/** A document up to this size is gathered: a stream would cost more than the wait. */
export const MAX_GATHERED_BYTES = 256 * 1024;

/** True if the answer is one JSON document, whose length is not known to be large. */
export function isDocument(head: HeadFrame): boolean {
  if (head.streaming) return false;
  const { dialect, facts } = head.request.original;
  // Such a stream may be events one by one in a JSON list.
  if (dialect.isStreamInPath && facts.stream && head.status < 400) return false;
  const type = headerValue(head.headers, 'content-type')?.toLowerCase() ?? '';
  if (!type.includes('json') && headerValue(head.headers, 'content-length') !== '0') return false;
  const declared = Number(headerValue(head.headers, 'content-length') ?? 0);
  return declared <= MAX_GATHERED_BYTES;
}

/** True if the response cannot have a body, whatever its header fields say. */
export function isBodiless(status: number, method: string): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/**
 * Reads a document until its end. One that outgrows the limit on the way goes on
 * as a stream, read through `watched`. Throws or rejects if the document breaks off: nothing of it was sent yet.
 */
export function gather(
  head: HeadFrame,
  body: Source<Buffer>,
  watched: () => Source<Buffer>,
): Answer<ProxyFrame> | Promise<Answer<ProxyFrame>> {
  const pieces: Buffer[] = [];
  let gatheredBytes = 0;
  const more = (): Answer<ProxyFrame> | Promise<Answer<ProxyFrame>> => {
    while (gatheredBytes <= MAX_GATHERED_BYTES) {
      const piece = body.poll();
      // A short document is there with its head, and then costs no promise.
      if (piece === null) return body.wait().then(more);
      if (piece === undefined) return whole(head, pieces);
      pieces.push(piece);
      gatheredBytes += piece.length;
    }
    return stream(head, watched().prepend(pieces));
  };
  return more();
}

function whole(head: HeadFrame, pieces: readonly Buffer[]): WholeAnswer<ProxyFrame> {
  if (pieces.length === 0) return [head, END];
  return [head, toChunk(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)), END];
}

/** The answer as it comes: head, chunks, end. What answers to `added` is there for the meter only. */
export function stream(
  head: HeadFrame,
  body: Source<Buffer>,
  added?: UsageRequest,
): Source<ProxyFrame> {
  return body.map<ProxyFrame>(chunksWithout(added), () => [END]).prepend([head]);
}

/** Makes chunks of whole events, without what only answers to `added`; the meter still reads that. */
export function chunksWithout(
  added: UsageRequest | undefined,
): (bytes: Buffer) => ChunkFrame | readonly ChunkFrame[] {
  if (added === undefined) return toChunk;
  return (metered) => {
    const [first = NOTHING, ...more] = added.without(metered);
    if (first === metered) return toChunk(metered);
    // What the meter reads is all of it, once, whatever the client gets to see.
    return [chunkOf(first, metered), ...more.map((bytes) => chunkOf(bytes, NOTHING))];
  };
}

function chunkOf(bytes: Buffer, metered: Buffer): ChunkFrame {
  return Object.freeze({ kind: 'chunk', bytes, metered });
}
