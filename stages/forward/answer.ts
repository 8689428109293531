/**
 * From a provider's response to an answer: a short document is gathered and
 * sent in one piece, everything else is a live stream that reads from the socket
 * only when somebody reads from it.
 */
import type { Answer, WholeAnswer } from '../../engine/index.ts';
import { END, toChunk } from '../model/frame.ts';
import type { ChunkFrame, HeadFrame, ProxyFrame } from '../model/frame.ts';
import { headerValue } from '../model/headers.ts';
import type { UpstreamBody } from '../providers/upstream.ts';
import type { UsageChunkFilter } from './usage-chunk.ts';

/** A document up to this size is gathered: a stream would cost more than the wait. */
export const MAX_GATHERED_BYTES = 256 * 1024;

/** True if the answer is one JSON document, whose length is not known to be large. */
export function isDocument(head: HeadFrame): boolean {
  if (head.streaming) return false;
  const { dialect, facts } = head.request.original;
  // Without `alt=sse` a generative client gets its events one by one in a JSON list.
  if (dialect.name === 'generative' && facts.stream && head.status < 400) return false;
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
 * as a stream, read through `watched`. Rejects if the document breaks off: nothing of it was sent yet.
 */
export function gather(
  head: HeadFrame,
  body: UpstreamBody,
  watched: () => UpstreamBody,
): Answer<ProxyFrame> | Promise<Answer<ProxyFrame>> {
  const pieces: Buffer[] = [];
  let gatheredBytes = 0;
  while (gatheredBytes <= MAX_GATHERED_BYTES) {
    // A short document is there with its head, and then costs no promise.
    const piece = body.poll();
    if (piece === null) return gatherRest(head, body, watched, pieces);
    if (piece === undefined) return whole(head, pieces);
    pieces.push(piece);
    gatheredBytes += piece.length;
  }
  return stream(head, watched(), { ready: pieces });
}

async function gatherRest(
  head: HeadFrame,
  body: UpstreamBody,
  watched: () => UpstreamBody,
  pieces: Buffer[],
): Promise<Answer<ProxyFrame>> {
  let gatheredBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  while (gatheredBytes <= MAX_GATHERED_BYTES) {
    const piece = await body.read();
    if (piece === undefined) return whole(head, pieces);
    pieces.push(piece);
    gatheredBytes += piece.length;
  }
  return stream(head, watched(), { ready: pieces });
}

function whole(head: HeadFrame, pieces: readonly Buffer[]): WholeAnswer<ProxyFrame> {
  if (pieces.length === 0) return [head, END];
  return [head, toChunk(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)), END];
}

export interface StreamOptions {
  /** Pieces that were read already. */
  readonly ready?: readonly Buffer[];
  readonly filter?: UsageChunkFilter | undefined;
}

/** The answer as a live stream: head, chunks as they come, end. */
export function stream(
  head: HeadFrame,
  body: UpstreamBody,
  { ready: first = [], filter }: StreamOptions = {},
): ReadableStream<ProxyFrame> {
  const waiting = [...first];
  let isHeadSent = false;
  const take = (bytes: Buffer): ChunkFrame => filter?.push(bytes) ?? toChunk(bytes);

  function deliver(
    bytes: Buffer | undefined,
    controller: ReadableStreamDefaultController<ProxyFrame>,
  ): boolean {
    if (bytes !== undefined) {
      const chunk = take(bytes);
      if (chunk.bytes.length === 0 && chunk.metered === undefined) return false;
      controller.enqueue(chunk);
      return true;
    }
    const rest = filter?.end();
    if (rest !== undefined) controller.enqueue(rest);
    controller.enqueue(END);
    controller.close();
    return true;
  }

  return new ReadableStream<ProxyFrame>(
    {
      async pull(controller) {
        if (!isHeadSent) {
          isHeadSent = true;
          return controller.enqueue(head);
        }
        for (;;) {
          // What is there already costs no promise.
          const ready = waiting.shift() ?? body.poll();
          if (deliver(ready === null ? await body.read() : ready, controller)) return undefined;
        }
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
