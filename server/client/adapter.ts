/**
 * The base of all adapters: options, the steps of a call, and streams. A subclass names the dialect
 * of requests and responses; the dialect defines path, fields and token counts.
 */
import type { TokenCounts, WireDialect } from './dialect.ts';
import { SvcAdapterError, SvcConfigError, isObject } from './errors.ts';
import { post, postForEvents } from './transport.ts';
import type { JsonObject, Transport } from './transport.ts';

/** Options of every adapter; the specification's spellings are accepted too. */
export interface AdapterOptions {
  /** Address of the proxy, such as `http://127.0.0.1:8766`; a trailing `/v1` is removed. */
  readonly baseUrl?: string;
  readonly base_url?: string;
  /** The provider's key, which the proxy forwards. */
  readonly apiKey?: string;
  readonly api_key?: string;
  /** Timeout in seconds for a response, and for each further chunk of a stream; default 120. */
  readonly timeoutS?: number;
  readonly timeout_s?: number;
  /** `X-Svc-Key`, for a proxy on another machine. */
  readonly proxyKey?: string;
  /** Headers sent with every request, such as `x-svc-mode`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Cancels the request; its own reason is thrown. */
  readonly signal?: AbortSignal;
  /** Headers of this request alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

const DEFAULT_TIMEOUT_S = 120;
const MAX_TIMEOUT_S = 2_147_483;

/**
 * The abstract base class. A subclass defines the dialect, which has the path and the fields, or
 * overrides the steps that would need one.
 *
 * The steps of a call have both the specification's names and camel-case ones. A subclass may
 * override either: internal calls use the camel-case name, which calls the specification's.
 */
export abstract class SvcAdapter<Request extends object = JsonObject, Answer = JsonObject> {
  readonly baseUrl: string;
  readonly timeoutS: number;
  protected readonly apiKey: string;
  /** The specification's names for the three; a subclass may read either. */
  readonly base_url: string;
  readonly timeout_s: number;
  protected readonly api_key: string;
  readonly #transport: Transport;
  readonly #headers: Readonly<Record<string, string>>;

  /** Throws `SvcConfigError` if an option is missing or invalid. */
  constructor(options: AdapterOptions) {
    checkOptions(options);
    const { proxyKey } = options;
    this.baseUrl = toBaseUrl(options.baseUrl ?? options.base_url);
    this.apiKey = toKey(options.apiKey ?? options.api_key);
    this.timeoutS = toTimeoutS(options.timeoutS ?? options.timeout_s ?? DEFAULT_TIMEOUT_S);
    this.base_url = this.baseUrl;
    this.api_key = this.apiKey;
    this.timeout_s = this.timeoutS;
    this.#headers = {
      ...options.headers,
      ...(proxyKey !== undefined && { 'x-svc-key': proxyKey }),
    };
    this.#transport = {
      baseUrl: this.baseUrl,
      timeoutMs: this.timeoutS * 1000,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    };
  }

  /**
   * Returns the dialect of a request, prepared or not. Throws `SvcConfigError` if there is none.
   */
  protected dialectOfRequest(_request: JsonObject): WireDialect {
    throw new SvcConfigError(withoutDialect(this));
  }

  /** Returns the dialect of a response, or of one of its events. Throws as above. */
  protected dialectOfAnswer(_answer: JsonObject): WireDialect {
    throw new SvcConfigError(withoutDialect(this));
  }

  /** Returns the key for a dialect's provider. */
  protected keyFor(_dialect: WireDialect): string {
    return this.apiKey;
  }

  /** Returns the body to send for a prepared request. */
  protected bodyOf(prepared: JsonObject): JsonObject {
    return prepared;
  }

  /**
   * Checks a request and fills in defaults, without changing the given object. Throws
   * `SvcConfigError`.
   */
  prepare_request(request: Request): JsonObject {
    const given = request as JsonObject;
    checkRequest(given);
    checkConversation(given);
    return { stream: false, ...this.dialectOfRequest(given).prepare(given) };
  }

  /** Returns a response in the shape of the provider's own SDK. Throws if it has another shape. */
  parse_response(response: JsonObject): Answer {
    checkAnswer(response);
    const dialect = this.dialectOfAnswer(response);
    if (dialect.isAnswer(response)) return response as Answer;
    throw new SvcAdapterError(`The answer is not in the ${dialect.name} dialect`);
  }

  /** Returns the token counts of a response. */
  extract_tokens(response: JsonObject): TokenCounts {
    checkAnswer(response);
    return this.dialectOfAnswer(response).tokensOf(response);
  }

  /** POSTs a prepared request and returns the raw response. Use `stream` for a prepared stream. */
  async send(prepared: JsonObject, options: CallOptions = {}): Promise<JsonObject> {
    checkRequest(prepared);
    if (prepared['stream'] === true)
      throw new SvcConfigError('send() does not take a request with stream: true; use stream()');
    return await post(this.#transport, this.#call(prepared, options));
  }

  /** Prepares, sends and parses. */
  async call(request: Request, options: CallOptions = {}): Promise<Answer> {
    const prepared = this.prepareRequest(request);
    return this.parseResponse(await this.send({ ...prepared, stream: false }, options));
  }

  /** Prepares a request and yields its events as the provider sends them, parsed from JSON. */
  async *stream(request: Request, options: CallOptions = {}): AsyncGenerator<JsonObject, void> {
    const prepared = { ...this.prepareRequest(request), stream: true };
    yield* postForEvents(this.#transport, this.#call(prepared, options), (event) =>
      this.dialectOfAnswer(event).positionOf(event),
    );
  }

  /** Like `stream`, but yields only the text. */
  async *stream_text(request: Request, options: CallOptions = {}): AsyncGenerator<string, void> {
    for await (const event of this.stream(request, options)) {
      const text = this.dialectOfAnswer(event).textOf(event);
      if (text !== '') yield text;
    }
  }

  #call(prepared: JsonObject, { signal, headers }: CallOptions) {
    const dialect = this.dialectOfRequest(prepared);
    return {
      path: dialect.path,
      headers: { ...this.#headers, ...dialect.headers(this.keyFor(dialect)), ...headers },
      body: this.bodyOf(prepared),
      ...(signal !== undefined && { signal }),
    };
  }

  /** Camel-case name of `prepare_request`. */
  prepareRequest(request: Request): JsonObject {
    return this.prepare_request(request);
  }

  /** Camel-case name of `parse_response`. */
  parseResponse(response: JsonObject): Answer {
    return this.parse_response(response);
  }

  /** Camel-case name of `extract_tokens`. */
  extractTokens(response: JsonObject): TokenCounts {
    return this.extract_tokens(response);
  }

  /** Camel-case name of `stream_text`. */
  streamText(request: Request, options: CallOptions = {}): AsyncGenerator<string, void> {
    return this.stream_text(request, options);
  }
}

function checkOptions(options: unknown): void {
  if (!isObject(options)) throw new SvcConfigError('The options must be an object with baseUrl');
}

function toBaseUrl(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new SvcConfigError(
      'baseUrl is required: the address of the proxy, such as http://127.0.0.1:8766',
    );
  let url: URL;
  try {
    url = new URL(value.trim());
  } catch {
    throw new SvcConfigError(
      `baseUrl '${value}' is not a URL; it should look like http://127.0.0.1:8766`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new SvcConfigError(`baseUrl '${value}' must begin with http:// or https://`);
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '');
}

function toKey(value: unknown): string {
  if (typeof value === 'string' && /^[\u0021-\u007e]+$/.test(value)) return value;
  throw new SvcConfigError(
    value === undefined || value === ''
      ? 'apiKey is required: the key of the provider, which the proxy forwards'
      : 'apiKey must be text without spaces or line breaks',
  );
}

function toTimeoutS(value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= MAX_TIMEOUT_S) return value;
  throw new SvcConfigError(
    `timeoutS must be a number of seconds above 0, at most ${MAX_TIMEOUT_S}`,
  );
}

function withoutDialect({ constructor }: object): string {
  return (
    `${constructor.name} names no dialect: extend MessagesAdapter, or the adapter of another ` +
    'dialect, or override prepare_request, send, parse_response and extract_tokens'
  );
}

/** Throws `SvcAdapterError`: a value that is not an object has neither a shape nor a usage. */
function checkAnswer(response: unknown): void {
  if (!isObject(response)) throw new SvcAdapterError('The answer is not a JSON object');
}

/** Throws `SvcConfigError`. */
export function checkRequest(request: unknown): void {
  if (!isObject(request)) throw new SvcConfigError('The request must be an object');
}

/** Throws `SvcConfigError` unless `model` is a name and `messages` a non-empty list of turns. */
function checkConversation(request: JsonObject): void {
  const { model, messages } = request;
  for (const [field, value] of Object.entries({ model, messages }))
    if (value === undefined || value === null)
      throw new SvcConfigError(`Missing required field: ${field}`);
  if (typeof model !== 'string' || model === '')
    throw new SvcConfigError("Field 'model' must be the name of a model");
  if (!Array.isArray(messages)) throw new SvcConfigError("Field 'messages' must be a list");
  if (messages.length === 0) throw new SvcConfigError("Field 'messages' must contain a message");
  messages.forEach((message: unknown, index) => {
    const isTurn = typeof message === 'object' && message !== null && 'role' in message;
    if (!isTurn || typeof message.role !== 'string')
      throw new SvcConfigError(`messages[${index}] must be an object with role and content`);
  });
}
