/**
 * What each dialect provides for translation. Everything is a pure function or a fresh state
 * machine.
 */
import type {
  CanonicalError,
  CanonicalRequest,
  CanonicalResponse,
  JsonObject,
  Note,
  StreamReader,
  StreamWriter,
  TranslatableDialect,
  WireEvent,
} from '../canonical.ts';

/**
 * What to do if a conversation requires a tool that its provider defines: skip the target, or drop
 * the tool because there is no other target.
 */
export type ProviderTools = 'skip' | 'drop';

export interface ReadRequestContext {
  /** The request's path with its query; the generative dialect names its model there. */
  readonly target: string;
  readonly note: Note;
  readonly providerTools: ProviderTools;
}

/** What some servers refuse or require and others do not: learned from their responses. */
export type Unsupported =
  | 'stream_options'
  | 'reasoning of calls'
  | 'calls without reasoning'
  | 'instructions in the middle'
  | 'thoughts that do not match'
  | 'thoughts of another account'
  | 'calls without a signature';

export interface WriteRequestContext {
  readonly note: Note;
  /** What this server is known to refuse. */
  readonly unsupported: ReadonlySet<Unsupported>;
}

export interface WrittenRequest {
  readonly body: JsonObject;
  /** Path and query to send it to, from the provider's origin. */
  readonly path: string;
}

/** What an answer's writer must know about the request. Made by `translateRequest`. */
export interface ClientOptions {
  /** The model that the client asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** True if a chat client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** Names of the tools whose input is free text. */
  readonly freeformTools: readonly string[];
  /** Names of the tools with which a responses client searches for other tools. */
  readonly searchTools: readonly string[];
  /** The client's name of each tool that was renamed. */
  readonly toolNames: { readonly [sent: string]: string };
  /** Ids of the calls already in the conversation, as the client has them. */
  readonly callIds?: ReadonlySet<string>;
  /**
   * The index that the answer will have among the client's messages; only if its calls may come
   * back without ids.
   */
  readonly place?: number;
  /** The stream format for a generative client: events, or one JSON array. */
  readonly framing: 'sse' | 'array';
}

/** The part that a request states in its own dialect. */
export type OwnOptions = Omit<ClientOptions, 'model' | 'stream' | 'toolNames' | 'callIds'>;

export interface AnswerContext {
  readonly clientOptions: ClientOptions;
  /** A new random id of letters and digits. */
  readonly ids: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Records parts of the answer that the client does not get. */
  readonly note: Note;
}

/** `after user`: right after a user message, and before a model message or at the end. */
export type SystemPlace = 'anywhere' | 'after user' | 'nowhere';

export interface DialectTranslation {
  readonly name: TranslatableDialect;
  /** Returns where instructions may be placed within a conversation with this model. */
  readonly systemPlace: (model: string) => SystemPlace;
  /** The tool names that the dialect accepts. */
  readonly toolName: RegExp;
  /** Throws `unprocessable` for what no other dialect can express. */
  readRequest(body: JsonObject, context: ReadRequestContext): CanonicalRequest;
  /** Throws `unprocessable` for what this dialect cannot express. */
  writeRequest(request: CanonicalRequest, context: WriteRequestContext): WrittenRequest;
  clientOptions(body: JsonObject, target: string): OwnOptions;
  /**
   * Returns a whole answer as the equivalent stream. Throws `bad_gateway` if it is not an answer.
   */
  streamOf(answer: JsonObject): readonly WireEvent[];
  /** Throws `bad_gateway` if the body is not an answer of this dialect. */
  readResponse(body: unknown, context: AnswerContext): CanonicalResponse;
  /**
   * Throws `bad_gateway` if the answer cannot be expressed, such as tool arguments that are not
   * JSON.
   */
  writeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject;
  /** Reads one stream, and writes one. */
  readonly Reader: new (context: AnswerContext) => StreamReader;
  readonly Writer: new (context: AnswerContext) => StreamWriter;
  readError(status: number, body: unknown): CanonicalError;
  writeError(error: CanonicalError, status: number): JsonObject;
}
