/**
 * What every dialect provides to the stages: how its requests and answers are read.
 * Nothing in here rewrites bytes; same-dialect traffic passes unchanged.
 */
import type { SvcError } from '../../engine/index.ts';
import type { Block } from './block.ts';
import type { Usage } from './usage.ts';

export type DialectName = 'messages' | 'chat' | 'responses' | 'generative' | 'opaque';

/** What the proxy needs to know of a request, whatever its dialect. */
export interface RequestFacts {
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly maxOutputTokens: number | undefined;
  /**
   * Whether a chat request wants the usage chunk; `declined` is also what no provider takes.
   * `unsaid` where the notion does not exist.
   */
  readonly usageWish: 'wanted' | 'declined' | 'unsaid';
  readonly hasTools: boolean;
  readonly hasThinking: boolean;
}

/** Facts of a request that nobody read. */
export const UNREAD_FACTS: RequestFacts = Object.freeze({
  model: undefined,
  stream: false,
  maxOutputTokens: undefined,
  usageWish: 'unsaid',
  hasTools: false,
  hasThinking: false,
});

/** Follows the bytes of an answer and gathers what it says of its usage. Never throws. */
export interface UsageObserver {
  /** Takes the next bytes, in any split. */
  push(bytes: Buffer): void;
  /** All of it has arrived, as far as the connection shows. What comes to its end may be read more cheaply. */
  ended?(): void;
  /** What is known so far. */
  usage(): Usage;
  /** Output tokens that a stream has sent so far, estimated; 0 for a document, which is there or not. */
  streamedTokens(): number;
  /** The model that the answer names, if it did. */
  model(): string | undefined;
  /** True once the dialect's terminator was seen (`message_stop`, `[DONE]`, a finish reason…). */
  terminated(): boolean;
  /** True if an error event was seen inside the stream. */
  failed(): boolean;
  /** Asked at the end: true if it came in the middle of the answer, without an error event. False where too little was kept to decide. */
  isCutShort(): boolean;
}

/** One reader of a dialect: stateless, one frozen object each. */
export interface Dialect {
  readonly name: DialectName;
  /** Checks presence and JSON kinds only (VALIDATION_002/003); all else is the upstream's to judge. */
  validate(body: unknown, target: string): SvcError | undefined;
  /** Reads a body that passed `validate`. `target` is the path with its query. */
  facts(body: unknown, target: string): RequestFacts;
  /** Every block in reading order; an empty list for a dialect that is not rewritten. */
  blocks(body: unknown): readonly Block[];
  /** An observer for one answer: `streaming` says whether it is events or one document. */
  observeUsage(streaming: boolean): UsageObserver;
  /** True if this event carries content, so that no fallback is possible after it was sent. */
  isContent(event: string | undefined, data: string): boolean;
  /** True if this event ends the stream properly. */
  isTerminator(event: string | undefined, data: string): boolean;
  /** The error event for a client of this dialect, inside a stream. They end the stream. */
  errorEvent(error: SvcError, requestId: string): Buffer;
  /** Header fields that carry a configured key to a provider of this dialect. */
  keyHeaders(key: string, scheme: 'key' | 'bearer'): readonly string[];
  /** The client's own credential in these header fields, if there is one. */
  readonly credentialHeaders: readonly string[];
  /** Header fields, names and values, without which a provider refuses a request. */
  readonly requiredHeaders: readonly string[];
  /** How a provider lists its models; undefined where there is no such list. */
  readonly models?: ModelList;
  /** How usage is asked for where a stream does not report it of its own accord; absent where every stream does. */
  readonly usageRequest?: UsageRequest;
  /** True where the path says whether an answer is streamed, which may then come as one JSON list; absent elsewhere. */
  readonly isStreamInPath?: true;
}

/** Asks for the usage of a stream on the client's behalf, and takes it out of what the client gets. */
export interface UsageRequest {
  /** The member of the request that asks for it. */
  readonly member: string;
  /** The value that the member gets in this body. */
  value(json: unknown): unknown;
  /**
   * Whole events without those that were added, in pieces, since a copy of a burst costs more than
   * all else that is done with it; the same buffer alone where none was added, none where all were.
   */
  without(events: Buffer): readonly Buffer[];
}

/** A provider's list of models, a page at a time. */
export interface ModelList {
  /** Path and query of the first page. */
  readonly path: string;
  /** The member that holds the models. */
  readonly member: string;
  /** The query parameter that asks for the page after this one; undefined at the last. */
  next(page: unknown): readonly [name: string, value: string] | undefined;
}
