/** What each dialect brings to translation. Everything is a pure function or a fresh state machine. */
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
 * What to do where a conversation cannot do without a tool that its provider defines: give the
 * target up, or leave the tool out all the same, because nobody else is there to be asked.
 */
export type ProviderTools = 'skip' | 'drop';

export interface ReadRequestContext {
  /** The request's path with its query; the generative dialect names its model there. */
  readonly target: string;
  readonly note: Note;
  readonly providerTools: ProviderTools;
}

/** What a server may refuse that others take, or want: found out by asking it. */
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

/** What the request holds that its answer's writer must know. Made by `translateRequest`. */
export interface AnswerWishes {
  /** The model that the client asked for. */
  readonly model: string;
  readonly stream: boolean;
  /** True if a chat client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** Names of the tools whose input is free text. */
  readonly freeformTools: readonly string[];
  /** Names of the tools by which a responses client looks for other tools. */
  readonly searchTools: readonly string[];
  /** The client's name of each tool that went out under another one. */
  readonly toolNames: { readonly [sent: string]: string };
  /** Ids of the calls that the conversation has already, as the client has them. */
  readonly callIds?: ReadonlySet<string>;
  /** The number that the answer will have among the client's messages; only where its calls may come back without ids. */
  readonly place?: number;
  /** How a generative client wants its stream: events, or one JSON array. */
  readonly framing: 'sse' | 'array';
}

/** The wishes that a request says in its own dialect. */
export type OwnWishes = Omit<AnswerWishes, 'model' | 'stream' | 'toolNames' | 'callIds'>;

export interface AnswerContext {
  readonly wishes: AnswerWishes;
  /** A new random id of letters and digits. */
  readonly ids: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** `after user`: right after a message of the user, and before one of the model or last. */
export type SystemPlace = 'anywhere' | 'after user' | 'nowhere';

export interface DialectTranslation {
  readonly name: TranslatableDialect;
  /** Where instructions may stand in the middle of a conversation with this model. */
  readonly systemPlace: (model: string) => SystemPlace;
  /** The tool names that the dialect accepts. */
  readonly toolName: RegExp;
  /** Throws `unprocessable` for what no other dialect can say. */
  readRequest(body: JsonObject, context: ReadRequestContext): CanonicalRequest;
  /** Throws `unprocessable` for what this dialect cannot say. */
  writeRequest(request: CanonicalRequest, context: WriteRequestContext): WrittenRequest;
  wishes(body: JsonObject, target: string): OwnWishes;
  /** A whole answer as the stream that says the same. Throws `bad_gateway` where it is none. */
  streamOf(answer: JsonObject): readonly WireEvent[];
  /** Throws `bad_gateway` where the body is no answer of this dialect. */
  readResponse(body: unknown, context: AnswerContext): CanonicalResponse;
  /** Throws `bad_gateway` where the answer cannot be expressed, such as tool arguments that are not JSON. */
  writeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject;
  /** Reads one stream, and writes one. */
  readonly Reader: new (context: AnswerContext) => StreamReader;
  readonly Writer: new (context: AnswerContext) => StreamWriter;
  readError(status: number, body: unknown): CanonicalError;
  writeError(error: CanonicalError, status: number): JsonObject;
}
