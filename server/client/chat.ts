/** The chat-completions dialect: `POST /v1/chat/completions`. */
import { SvcAdapter } from './adapter.ts';
import { countAt, objectAt } from './dialect.ts';
import type { ChatTurn, WireDialect } from './dialect.ts';
import type { JsonObject } from './transport.ts';

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatTurn[];
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly [field: string]: unknown;
}

export interface ChatChoice {
  readonly index: number;
  readonly message: JsonObject;
  readonly finish_reason: string | null;
  readonly [field: string]: unknown;
}

/** The completion object of the chat dialect. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly ChatChoice[];
  readonly usage?: JsonObject;
  readonly [field: string]: unknown;
}

/** Returns the first choice of a completion or of a chunk; an empty object if there is none. */
export function choiceOf(answer: JsonObject): JsonObject {
  const { choices } = answer;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return typeof first === 'object' && first !== null ? (first as JsonObject) : {};
}

export const chatDialect: WireDialect = {
  name: 'chat',
  path: '/v1/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  prepare: (request) => request,
  isAnswer: (response) => Array.isArray(response['choices']),
  /** `prompt_tokens` includes cached tokens; `input_tokens` here does not. */
  tokensOf(response) {
    const usage = objectAt(response, 'usage');
    const promptTokens = countAt(usage, 'prompt_tokens');
    const cachedTokens = countAt(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens');
    return {
      input_tokens: promptTokens === null ? null : Math.max(promptTokens - (cachedTokens ?? 0), 0),
      output_tokens: countAt(usage, 'completion_tokens'),
      cache_read_input_tokens: cachedTokens,
      cache_creation_input_tokens: null,
    };
  },
  /** `[DONE]` ends the stream; some servers omit it after the last choice. */
  positionOf: (event) =>
    typeof choiceOf(event)['finish_reason'] === 'string' ? 'may_end' : 'more',
  textOf(event) {
    const { content } = objectAt(choiceOf(event), 'delta');
    return typeof content === 'string' ? content : '';
  },
};

/** Sends requests of the chat-completions dialect. */
export class ChatCompletionsAdapter extends SvcAdapter<ChatRequest, ChatAnswer> {
  protected override dialectOfRequest(): WireDialect {
    return chatDialect;
  }

  protected override dialectOfAnswer(): WireDialect {
    return chatDialect;
  }
}
