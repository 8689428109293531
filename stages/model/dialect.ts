/**
 * What every dialect provides to the stages: how its requests and answers are read. Nothing here
 * rewrites bytes; same-dialect traffic passes unchanged.
 */
import type { SvcError } from '../../engine/index.ts';
import type { Block } from './block.ts';
import type { BlockHistory } from './block-history.ts';
import type { Usage } from './usage.ts';

export type DialectName = 'messages' | 'chat' | 'responses' | 'generative' | 'opaque';

/** What the proxy needs to know about a request, whatever its dialect. */
export interface RequestFacts {
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly maxOutputTokens: number | undefined;
  /**
   * Whether a chat request asks for the usage chunk; an invalid value counts as `declined`.
   * `unsaid` if the option is not set or the dialect has none.
   */
  readonly usageOption: 'wanted' | 'declined' | 'unsaid';
  readonly hasTools: boolean;
  readonly hasThinking: boolean;
}

/** Facts of a request that was not read. */
export const UNREAD_FACTS: RequestFacts = Object.freeze({
  model: undefined,
  stream: false,
  maxOutputTokens: undefined,
  usageOption: 'unsaid',
  hasTools: false,
  hasThinking: false,
});

/** Follows the bytes of an answer and collects its usage. Never throws. */
export interface UsageObserver {
  /** Takes the next bytes, split anywhere. */
  push(bytes: Buffer): void;
  /**
   * Called when everything has arrived, as far as the connection shows; the rest can then be read
   * more cheaply.
   */
  ended?(): void;
  /** Returns what is known so far. */
  usage(): Usage;
  /**
   * Estimated output tokens that a stream has sent so far; 0 for a document, which arrives whole.
   */
  streamedTokens(): number;
  /** The model that the answer names, if any. */
  model(): string | undefined;
  /** True once the dialect's terminator was seen (`message_stop`, `[DONE]`, a finish reason…). */
  terminated(): boolean;
  /** True if an error event was seen inside the stream. */
  failed(): boolean;
  /**
   * Called at the end: true if the answer stopped in the middle, without an error event. False if
   * too little was kept to decide.
   */
  isCutShort(): boolean;
}

/** A dialect's reader: stateless, one frozen object each. */
export interface Dialect {
  readonly name: DialectName;
  /**
   * Checks presence and JSON types only (VALIDATION_002/003); everything else is for the upstream
   * to judge.
   */
  validate(body: unknown, target: string): SvcError | undefined;
  /** Reads a body that passed `validate`. `target` is the path with its query. */
  facts(body: unknown, target: string): RequestFacts;
  /**
   * Returns every block in reading order; an empty list for a dialect that is not rewritten. Blocks
   * that `history` has of an earlier request are the same objects.
   */
  blocks(body: unknown, history?: BlockHistory): readonly Block[];
  /**
   * Creates an observer for one answer: `streaming` says whether it is a stream of events or one
   * document.
   */
  observeUsage(streaming: boolean): UsageObserver;
  /** True if this event carries content, after which no fallback is possible. */
  isContent(event: string | undefined, data: string): boolean;
  /** True if this event ends the stream properly. */
  isTerminator(event: string | undefined, data: string): boolean;
  /** Returns the error event for a client of this dialect, which ends the stream. */
  errorEvent(error: SvcError, requestId: string): Buffer;
  /** Headers that carry a configured key to a provider of this dialect. */
  keyHeaders(key: string, scheme: 'key' | 'bearer'): readonly string[];
  /** Headers that may carry the client's own credential. */
  readonly credentialHeaders: readonly string[];
  /** Headers, names and values, without which a provider refuses a request. */
  readonly requiredHeaders: readonly string[];
  /** How a provider lists its models; undefined if it has no such list. */
  readonly models?: ModelList;
  /** How to request usage if streams do not report it by default; absent if every stream does. */
  readonly usageRequest?: UsageRequest;
  /**
   * True if the path says whether an answer is streamed, which may then be one JSON list; absent
   * otherwise.
   */
  readonly isStreamInPath?: true;
}

/**
 * Requests a stream's usage on the client's behalf, and removes it from what the client receives.
 */
export interface UsageRequest {
  /** The request member that asks for it. */
  readonly member: string;
  /** Returns the member's value for this body. */
  value(json: unknown): unknown;
  /**
   * Returns whole events without the added ones, in pieces, since copying a burst costs more than
   * everything else done with it; the same buffer if none was added, an empty list if all were.
   */
  without(events: Buffer): readonly Buffer[];
}

/** A provider's list of models, in pages. */
export interface ModelList {
  /** Path and query of the first page. */
  readonly path: string;
  /** The member that holds the models. */
  readonly member: string;
  /** Returns the query parameter for the next page; undefined at the last. */
  next(page: unknown): readonly [name: string, value: string] | undefined;
}
