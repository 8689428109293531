/**
 * One adapter for models of several providers: each request goes to the path of its model's
 * dialect.
 */
import { SvcAdapter, checkRequest } from './adapter.ts';
import type { AdapterOptions } from './adapter.ts';
import { chatDialect } from './chat.ts';
import type { ChatAnswer } from './chat.ts';
import type { ChatTurn, WireDialect } from './dialect.ts';
import { SvcConfigError } from './errors.ts';
import { messagesDialect } from './messages.ts';
import type { MessagesAnswer } from './messages.ts';
import type { JsonObject } from './transport.ts';

export interface MultiProviderRequest {
  readonly model: string;
  readonly messages: readonly ChatTurn[];
  /** Required by the messages dialect; default 4096. */
  readonly max_tokens?: number;
  readonly stream?: boolean;
  /** Dialect of the request; by default chosen from the model's name. Not sent. */
  readonly dialect?: WireDialect['name'];
  readonly [field: string]: unknown;
}

export interface MultiProviderOptions extends AdapterOptions {
  /** Keys per dialect, where they differ; `apiKey` is the default. */
  readonly apiKeys?: Readonly<Partial<Record<WireDialect['name'], string>>>;
}

/**
 * Models whose names begin this way, after an optional provider prefix, use messages; all others
 * chat.
 */
const MESSAGES_MODELS = /^(?:[a-z0-9._-]{1,64}\/)?(?:claude|anthropic)/i;
const DEFAULT_MAX_TOKENS = 4096;

/** Sends each request in its model's dialect. Responses and events keep that dialect's shape. */
export class MultiProviderAdapter extends SvcAdapter<
  MultiProviderRequest,
  MessagesAnswer | ChatAnswer
> {
  readonly #apiKeys: NonNullable<MultiProviderOptions['apiKeys']>;

  constructor(options: MultiProviderOptions) {
    super(options);
    this.#apiKeys = options.apiKeys ?? {};
  }

  /** The prepared request keeps its `dialect`; `send` and `stream` remove it. */
  override prepare_request(request: MultiProviderRequest): JsonObject {
    checkRequest(request);
    const { dialect } = request;
    if (dialect !== undefined && dialect !== 'messages' && dialect !== 'chat')
      throw new SvcConfigError("Field 'dialect' must be 'messages' or 'chat'");
    const { name } = this.dialectOfRequest(request);
    const limit = name === 'messages' && { max_tokens: DEFAULT_MAX_TOKENS };
    return { ...super.prepare_request({ ...limit, ...request }), dialect: name };
  }

  protected override bodyOf(prepared: JsonObject): JsonObject {
    const { dialect: _, ...body } = prepared;
    return body;
  }

  protected override keyFor({ name }: WireDialect): string {
    return this.#apiKeys[name] ?? this.apiKey;
  }

  protected override dialectOfRequest({ dialect, model }: JsonObject): WireDialect {
    if (dialect !== undefined) return dialect === 'messages' ? messagesDialect : chatDialect;
    return MESSAGES_MODELS.test(String(model)) ? messagesDialect : chatDialect;
  }

  /** Responses and events of the messages dialect have a type, those of the chat dialect do not. */
  protected override dialectOfAnswer({ type }: JsonObject): WireDialect {
    return typeof type === 'string' ? messagesDialect : chatDialect;
  }
}
