/** Answers and errors of the chat dialect, both ways. */
import { totalInputTokens, type Usage } from '../../model/usage.ts';
import type {
  CanonicalError,
  CanonicalErrorKind,
  CanonicalResponse,
  ImageBlock,
  JsonObject,
  StopReason,
} from '../canonical.ts';
import type { AnswerContext } from '../translate/dialect.ts';
import { errorKindOfStatus, kindsByWord, plainErrorMessage } from '../translate/errors.ts';
import { unwrapFreeform } from '../translate/freeform.ts';
import { answerId } from '../translate/ids.ts';
import { addressOf } from '../translate/media.ts';
import { defined, filledString, isObject, numberOf, objectOf, stringOf } from '../json-kind.ts';
import { writeToolCall } from './translate-message.ts';

const STOP_REASONS = new Map<unknown, StopReason>([
  ['stop', 'end'],
  ['length', 'maxTokens'],
  ['tool_calls', 'toolUse'],
  ['function_call', 'toolUse'],
  ['content_filter', 'refusal'],
  ['error', 'failed'],
  // Used by z.ai.
  ['model_context_window_exceeded', 'contextWindow'],
  ['sensitive', 'refusal'],
  ['network_error', 'failed'],
]);

/** The dialect's name of each reason. */
export const chatStop: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  stopSequence: 'stop',
  pause: 'stop',
  maxTokens: 'length',
  contextWindow: 'length',
  toolUse: 'tool_calls',
  refusal: 'content_filter',
  failed: 'stop',
};

/**
 * `calls` says whether the answer has tool calls: several servers then still send `stop`, or
 * nothing.
 */
export function readChatStop(wire: unknown, calls: boolean): StopReason {
  const reason = STOP_REASONS.get(wire) ?? 'end';
  return reason === 'end' && calls ? 'toolUse' : reason;
}

/** Undefined if nothing was measured. */
export function writeChatUsage(usage: Usage): JsonObject | undefined {
  const input = totalInputTokens(usage);
  if (input === null && usage.outputTokens === null) return undefined;
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const inside = defined({
    cached_tokens: cacheReadTokens ?? undefined,
    cache_write_tokens: cacheWriteTokens ?? undefined,
  });
  return defined({
    prompt_tokens: input ?? 0,
    completion_tokens: usage.outputTokens ?? 0,
    total_tokens: (input ?? 0) + (usage.outputTokens ?? 0),
    prompt_tokens_details: Object.keys(inside).length === 0 ? undefined : inside,
    completion_tokens_details:
      reasoningTokens === null ? undefined : { reasoning_tokens: reasoningTokens },
  });
}

export function writeChatResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  return defined({
    id: answerId('chatcmpl-', response.id, context.ids),
    object: 'chat.completion',
    created: response.createdS ?? Math.floor(context.now() / 1000),
    model: response.model === '' ? context.clientOptions.model : response.model,
    choices: [
      {
        index: 0,
        message: writeAnswerMessage(response, context),
        logprobs: null,
        finish_reason: chatStop[response.stopReason],
      },
    ],
    usage: writeChatUsage(response.usage),
  });
}

function writeAnswerMessage(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const join = (kind: 'text' | 'refusal' | 'thinking'): string | undefined => {
    const texts = response.blocks.flatMap((block) =>
      'text' in block && block.kind === kind ? block.text : [],
    );
    return texts.length === 0 ? undefined : texts.join('');
  };
  const freeform = new Set(context.clientOptions.freeformTools);
  const calls = response.blocks
    .filter((block) => block.kind === 'toolUse')
    .map((block) =>
      freeform.has(block.name)
        ? {
            id: block.id,
            type: 'custom',
            custom: { name: block.name, input: unwrapFreeform(block.input) },
          }
        : writeToolCall(block),
    );
  const images = response.blocks
    .filter((block) => block.kind === 'image')
    .map((block, index) => ({ index, ...writeImage(block) }));
  return defined({
    role: 'assistant',
    content: join('text') ?? null,
    refusal: join('refusal') ?? null,
    reasoning_content: join('thinking'),
    tool_calls: calls.length === 0 ? undefined : calls,
    images: images.length === 0 ? undefined : images,
  });
}

/** An image as aggregators put it beside the text of an answer. */
export function writeImage({ source }: ImageBlock): JsonObject {
  return { type: 'image_url', image_url: { url: addressOf(source) } };
}

const ERROR_TYPES: Record<CanonicalErrorKind, string> = {
  invalid: 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'insufficient_quota',
  permission: 'permission_error',
  notFound: 'not_found_error',
  tooLarge: 'request_too_large',
  rateLimit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  internal: 'server_error',
};

const KIND_OF_TYPE = new Map<string, CanonicalErrorKind>([
  ...kindsByWord(ERROR_TYPES),
  ['rate_limit_exceeded', 'rateLimit'],
  ['tokens', 'rateLimit'],
  ['requests', 'rateLimit'],
]);

/**
 * Reads an error body, or an error inside a stream (status 200; a numeric code then takes its
 * place).
 */
export function readChatError(status: number, body: unknown): CanonicalError {
  const whole = objectOf(body);
  const error = isObject(whole.error) ? whole.error : whole;
  const errorCode = numberOf(error.code) ?? numberOf(error.status_code);
  const actual =
    status >= 400 ? status : errorCode !== undefined && errorCode >= 400 ? errorCode : 500;
  const typed =
    KIND_OF_TYPE.get(stringOf(error.code) ?? '') ?? KIND_OF_TYPE.get(stringOf(error.type) ?? '');
  const byStatus = errorKindOfStatus(actual);
  // Providers use this type for every client error: the status is more precise.
  const isVague = typed === undefined || (typed === 'invalid' && status >= 400);
  return defined({
    kind: isVague ? byStatus : typed,
    message: filledString(error.message) ?? stringOf(whole.error) ?? plainErrorMessage(actual),
    code: filledString(error.code),
  });
}

export function writeChatError(error: CanonicalError): JsonObject {
  const { message, code = null, param = null } = error;
  return { error: { message, type: ERROR_TYPES[error.kind], param, code } };
}
