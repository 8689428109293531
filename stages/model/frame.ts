/**
 * The frames of this project. A run is `body` → `request` → `head` → `chunk`* → `end`: the first
 * two travel alone to the answering stage, the others are the answer. A plain JSON answer is the
 * same sequence as a stream.
 */
import type { FrameKinds } from '../../engine/index.ts';
import type { UsageObserver } from './dialect.ts';
import type { Attempt } from './attempt.ts';
import type { Headers } from './headers.ts';
import type { ProxyRequest } from './request.ts';
import type { Usage } from './usage.ts';
import type { BodyFrame } from './body.ts';

/** A parsed request, with the edits that stages made to it. */
export interface RequestFrame {
  readonly kind: 'request';
  readonly request: ProxyRequest;
}

/** Status and headers of an answer, with the request that it answers. */
export interface HeadFrame {
  readonly kind: 'head';
  readonly status: number;
  readonly headers: Headers;
  readonly request: ProxyRequest;
  readonly attempts: readonly Attempt[];
  /** True if the body is a stream of events rather than one document. */
  readonly streaming: boolean;
  /** True for an error that came with a success status. */
  readonly failed?: true;
  /**
   * The provider's own name of the model, if the answer was translated and no longer contains it.
   */
  readonly model?: string;
  /** The usage that the provider itself has reported so far, if the answer was translated. */
  readonly usage?: () => Usage;
  /** Already observes the body, if its end had to be detected; no second observer is needed. */
  readonly observer?: UsageObserver | undefined;
}

/**
 * One event inside a chunk: `data` is its payload, `bytes` the piece of the chunk that carries it.
 */
export interface ChunkEvent {
  readonly event: string | undefined;
  /** Undefined for a piece without an event: a comment, garbage, an oversized line. */
  readonly data: string | undefined;
  readonly bytes: Buffer;
}

/**
 * A coalesced read of the upstream socket; `events` is a view of the same bytes, if a stage asked
 * for one.
 */
export interface ChunkFrame {
  readonly kind: 'chunk';
  readonly bytes: Buffer;
  readonly events?: readonly ChunkEvent[];
  /**
   * The upstream bytes, if something was removed that the client did not ask for. Read by the
   * meter.
   */
  readonly metered?: Buffer;
}

/** The answer is complete: its terminator or its declared length arrived. */
export interface EndFrame {
  readonly kind: 'end';
}

export type ProxyFrame = BodyFrame | RequestFrame | HeadFrame | ChunkFrame | EndFrame;

export const proxyFrameKinds: FrameKinds<ProxyFrame> = Object.freeze({
  request: Object.freeze(['body', 'request'] as const),
  response: Object.freeze(['head', 'chunk', 'end'] as const),
  last: 'end',
});

export const END: EndFrame = Object.freeze({ kind: 'end' });

/** Makes a chunk without an event view. */
export function toChunk(bytes: Buffer): ChunkFrame {
  return Object.freeze({ kind: 'chunk', bytes });
}
