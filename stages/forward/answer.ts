/**
 * From a provider's response to an answer: a short document is gathered and
 * sent in one piece, everything else is a live stream that reads from the socket
 * only when somebody reads from it.
 */
import { PulledAnswer } from '../../engine/index.ts';
import type { Answer, LiveAnswer, WholeAnswer } from '../../engine/index.ts';
import { END, toChunk } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
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

/** The answer as it comes: head, chunks, end. */
export function stream(
  head: HeadFrame,
  body: UpstreamBody,
  options: StreamOptions = {},
): LiveAnswer<ProxyFrame> {
  return new BodyAnswer(head, body, options);
}

class BodyAnswer extends PulledAnswer<ProxyFrame> {
  #head: HeadFrame | undefined;
  readonly #body: UpstreamBody;
  readonly #ready: Buffer[];
  readonly #filter: UsageChunkFilter | undefined;
  /** What is left to say once the body has ended. */
  #last: ProxyFrame[] | undefined;

  constructor(head: HeadFrame, body: UpstreamBody, { ready = [], filter }: StreamOptions) {
    super();
    this.#head = head;
    this.#body = body;
    this.#ready = [...ready];
    this.#filter = filter;
  }

  poll(): ProxyFrame | null | undefined {
    if (this.#last !== undefined) return this.#last.shift();
    if (this.#head !== undefined) {
      const head = this.#head;
      this.#head = undefined;
      return head;
    }
    for (;;) {
      const bytes = this.#ready.shift() ?? this.#body.poll();
      if (bytes === null) return null;
      const frame = this.#toFrame(bytes);
      if (frame !== undefined) return frame;
    }
  }

  read(): Promise<ProxyFrame | undefined> {
    return this.#body.read().then(this.#onBytes);
  }

  cancel(reason: unknown): void {
    this.#body.cancel(reason);
  }

  #onBytes = (
    bytes: Buffer | undefined,
  ): ProxyFrame | undefined | Promise<ProxyFrame | undefined> => {
    const frame = this.#toFrame(bytes) ?? this.poll();
    return frame === null ? this.read() : frame;
  };

  /** The frame that these bytes, or the end of the body, make; undefined where they make none. */
  #toFrame(bytes: Buffer | undefined): ProxyFrame | undefined {
    if (bytes !== undefined) {
      const chunk = this.#filter?.push(bytes) ?? toChunk(bytes);
      return chunk.bytes.length === 0 && chunk.metered === undefined ? undefined : chunk;
    }
    const rest = this.#filter?.end();
    this.#last = rest === undefined ? [] : [END];
    return rest ?? END;
  }
}
