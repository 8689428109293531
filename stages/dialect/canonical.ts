/**
 * What every dialect can express, in one format: the middle of each translation. A dialect reads
 * its wire format into this and writes its wire format from it, so N dialects need N readers and
 * writers and not N². Same-dialect traffic never comes here: a canonical hop loses whatever only
 * one dialect has.
 */
import type { Usage } from '../model/usage.ts';
import type { JsonObject } from './json-kind.ts';

export type { JsonObject };

/** The dialects that can be translated; `opaque` traffic cannot. */
export type TranslatableDialect = 'messages' | 'chat' | 'responses' | 'generative';

export interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
}

/** Text in which the model declines. Chat and responses have a separate field for it. */
export interface RefusalBlock {
  readonly kind: 'refusal';
  readonly text: string;
}

/** Where media come from: base64 inside the request, or a URL that the provider fetches. */
export type MediaSource =
  | { readonly from: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly from: 'url'; readonly url: string; readonly mediaType?: string };

export interface ImageBlock {
  readonly kind: 'image';
  readonly source: MediaSource;
}

/** A document without citations; plain-text documents contain their text. */
export interface DocumentBlock {
  readonly kind: 'document';
  readonly source: MediaSource | { readonly from: 'text'; readonly text: string };
  readonly title?: string;
}

export interface ToolUseBlock {
  readonly kind: 'toolUse';
  readonly id: string;
  readonly name: string;
  /**
   * The arguments as JSON text: a model may write text that is not JSON, and a client must see
   * that.
   */
  readonly input: string;
  /** What the provider requires back with this call. */
  readonly mark?: ProviderMark;
  /**
   * False if the client sent none, and `id` was made by us; `place` is then the index of its
   * message.
   */
  readonly hasOwnId?: boolean;
  readonly place?: number;
}

export interface ToolResultBlock {
  readonly kind: 'toolResult';
  readonly toolUseId: string;
  readonly content: readonly (TextBlock | ImageBlock | DocumentBlock)[];
  readonly isError: boolean;
}

/** Readable reasoning; only the dialect that made it gets it back. */
export interface ThinkingBlock {
  readonly kind: 'thinking';
  readonly text: string;
  readonly signature?: string;
  readonly provider: TranslatableDialect;
}

/** Reasoning that only its provider can read. */
export interface RedactedThinkingBlock {
  readonly kind: 'redactedThinking';
  readonly data: string;
  readonly provider: TranslatableDialect;
}

/** A text that only the dialect of `provider` reads. */
export interface ProviderMark {
  readonly provider: TranslatableDialect;
  readonly value: string;
}

export type CanonicalBlock =
  | TextBlock
  | RefusalBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock;

/** Role `system` is for instructions within a conversation; the leading ones are in `system`. */
export interface CanonicalMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: readonly CanonicalBlock[];
}

export interface CanonicalTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
  readonly strict?: boolean;
  /**
   * A tool that takes free text. In a dialect without such tools it becomes a function of one
   * string, `input`.
   */
  readonly freeform?: boolean;
}

/** Whether tools may or must be called; `only` narrows the choice to these names. */
export interface ToolChoice {
  readonly mode: 'auto' | 'any' | 'none';
  readonly only?: readonly string[];
}

/** A request for structured output: any JSON object, or one that fits a schema. */
export type ResponseFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly name?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much to think. Only `on` set means: at the provider's default. */
export interface Reasoning {
  readonly on: boolean;
  readonly effort?: Effort;
  readonly budgetTokens?: number;
  /** True if the client wants to read the thinking. */
  readonly isShown?: boolean;
}

export interface CanonicalRequest {
  readonly model: string;
  readonly system: readonly string[];
  readonly messages: readonly CanonicalMessage[];
  readonly tools: readonly CanonicalTool[];
  readonly toolChoice?: ToolChoice;
  /** False forbids more than one tool call in an answer. */
  readonly parallelTools?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop: readonly string[];
  readonly stream: boolean;
  readonly responseFormat?: ResponseFormat;
  readonly reasoning?: Reasoning;
}

/** Why the model stopped. `failed` is a broken answer that must not look like a success. */
export type StopReason =
  | 'end'
  | 'maxTokens'
  | 'stopSequence'
  | 'toolUse'
  | 'refusal'
  | 'pause'
  | 'contextWindow'
  | 'failed';

export interface CanonicalResponse {
  readonly id: string;
  readonly model: string;
  /** Unix time in seconds, if the dialect reports it. */
  readonly createdS?: number | undefined;
  readonly blocks: readonly CanonicalBlock[];
  readonly stopReason: StopReason;
  readonly stopSequence?: string | undefined;
  /** The provider's reason, if the answer failed or was refused. */
  readonly why?: string | undefined;
  readonly usage: Usage;
}

/** What a stream reports when it opens a block. Tool calls come with their id and name. */
export type OpeningBlock =
  | { readonly kind: 'text' | 'refusal' }
  | { readonly kind: 'thinking'; readonly provider: TranslatableDialect }
  /** Comes whole, without deltas. */
  | ImageBlock
  | {
      readonly kind: 'toolUse';
      readonly id: string;
      readonly name: string;
    };

/**
 * A stream, normalised: one `start`; blocks one after the other, each with a start, non-empty
 * deltas and a stop; marks of calls; then `stop` and any number of `usage` before `end`. A failure
 * is `error`, which is the last event.
 */
export type CanonicalEvent =
  | {
      readonly type: 'start';
      readonly id: string;
      readonly model: string;
      readonly createdS?: number | undefined;
    }
  | { readonly type: 'blockStart'; readonly block: OpeningBlock }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'blockStop' }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** What the provider requires back with the call of this id, which has already opened. */
  | { readonly type: 'mark'; readonly callId: string; readonly mark: ProviderMark }
  | {
      readonly type: 'stop';
      readonly reason: StopReason;
      readonly sequence?: string | undefined;
      readonly why?: string | undefined;
    }
  | { readonly type: 'end' }
  | { readonly type: 'error'; readonly error: CanonicalError }
  | { readonly type: 'ping' };

/** What an upstream's error means, in one vocabulary for all dialects. */
export type CanonicalErrorKind =
  | 'invalid'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'notFound'
  | 'tooLarge'
  | 'rateLimit'
  | 'overloaded'
  | 'timeout'
  | 'internal';

export interface CanonicalError {
  readonly kind: CanonicalErrorKind;
  readonly message: string;
  /** The provider's own short code, if any. */
  readonly code?: string;
  /** The request member that the error is about, in dialects that report it. */
  readonly param?: string;
}

/** One event as on the wire: the name is absent if the dialect sends none. */
export interface WireEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** Records what a reader or writer changed deliberately, one sentence each. */
export type Note = (text: string) => void;

/** Reads one dialect's stream. Never throws: what it cannot read becomes an `error` event. */
export interface StreamReader {
  read(event: WireEvent): readonly CanonicalEvent[];
  /**
   * Called at the end of the upstream's bytes; closes the stream, or reports that it was cut off.
   */
  end(): readonly CanonicalEvent[];
}

/** Writes one dialect's stream as the bytes of its framing. */
export interface StreamWriter {
  write(event: CanonicalEvent): string;
}
