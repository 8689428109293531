/** The messages dialect: `POST /v1/messages`. */
import { SvcAdapter } from './adapter.ts';
import { countAt, objectAt } from './dialect.ts';
import type { ChatTurn, WireDialect } from './dialect.ts';
import { SvcConfigError } from './errors.ts';
import type { JsonObject } from './transport.ts';

export interface MessagesRequest {
  readonly model: string;
  readonly messages: readonly ChatTurn[];
  readonly max_tokens: number;
  readonly stream?: boolean;
  readonly system?: unknown;
  readonly [field: string]: unknown;
}

export interface MessagesContent {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

/** The message object of the messages dialect. */
export interface MessagesAnswer {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly content: readonly MessagesContent[];
  readonly model: string;
  readonly stop_reason: string | null;
  readonly usage: JsonObject;
  readonly [field: string]: unknown;
}

export const messagesDialect: WireDialect = {
  name: 'messages',
  path: '/v1/messages',
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  prepare(request) {
    const { max_tokens: maxTokens } = request;
    if (maxTokens === undefined || maxTokens === null)
      throw new SvcConfigError('Missing required field: max_tokens');
    if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1)
      throw new SvcConfigError("Field 'max_tokens' must be a whole number of at least 1");
    // A turn of the chat dialect may have only calls; here calls are content.
    const { messages } = request as { readonly messages: readonly JsonObject[] };
    messages.forEach(({ content }, index) => {
      if (content === undefined || content === null)
        throw new SvcConfigError(`messages[${index}] must have content`);
    });
    return request;
  },
  isAnswer: (response) => response['type'] === 'message' && Array.isArray(response['content']),
  tokensOf(response) {
    const usage = objectAt(response, 'usage');
    return {
      input_tokens: countAt(usage, 'input_tokens'),
      output_tokens: countAt(usage, 'output_tokens'),
      cache_read_input_tokens: countAt(usage, 'cache_read_input_tokens'),
      cache_creation_input_tokens: countAt(usage, 'cache_creation_input_tokens'),
    };
  },
  positionOf: (event) => (event['type'] === 'message_stop' ? 'last' : 'more'),
  textOf(event) {
    const { type, text } = objectAt(event, 'delta');
    return type === 'text_delta' && typeof text === 'string' ? text : '';
  },
};

/** Sends requests of the messages dialect. */
export class MessagesAdapter extends SvcAdapter<MessagesRequest, MessagesAnswer> {
  protected override dialectOfRequest(): WireDialect {
    return messagesDialect;
  }

  protected override dialectOfAnswer(): WireDialect {
    return messagesDialect;
  }
}
