/** Answers and errors of the messages dialect, both ways. */
import { type Usage } from '../../model/usage.ts';
import type {
  CanonicalError,
  CanonicalErrorKind,
  CanonicalResponse,
  JsonObject,
  StopReason,
} from '../canonical.ts';
import type { AnswerContext } from '../translate/dialect.ts';
import { errorKindOfStatus, kindsByWord, plainErrorMessage } from '../translate/errors.ts';
import { answerId } from '../translate/ids.ts';
import { defined, filledString, objectOf, stringOf } from '../json-kind.ts';
import { writeMessagesBlock } from './translate-blocks.ts';

const STOP_REASONS = new Map<unknown, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'maxTokens'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolUse'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'contextWindow'],
]);

/** The dialect's name of each reason. */
export const messagesStop: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  maxTokens: 'max_tokens',
  stopSequence: 'stop_sequence',
  toolUse: 'tool_use',
  pause: 'pause_turn',
  refusal: 'refusal',
  contextWindow: 'model_context_window_exceeded',
  failed: 'end_turn',
};

/** An unknown reason counts as a normal end. */
export function readMessagesStop(wire: unknown): StopReason {
  return STOP_REASONS.get(wire) ?? 'end';
}

/** The dialect cannot express "not measured": its two required counts are then 0. */
export function writeMessagesUsage(usage: Usage): JsonObject {
  return defined({
    input_tokens: usage.inputTokens ?? 0,
    cache_creation_input_tokens: usage.cacheWriteTokens ?? undefined,
    cache_read_input_tokens: usage.cacheReadTokens ?? undefined,
    output_tokens: usage.outputTokens ?? 0,
    output_tokens_details:
      usage.reasoningTokens === null ? undefined : { thinking_tokens: usage.reasoningTokens },
  });
}

export function writeMessagesResponse(
  response: CanonicalResponse,
  context: AnswerContext,
): JsonObject {
  return {
    id: answerId('msg_', response.id, context.ids),
    type: 'message',
    role: 'assistant',
    model: response.model === '' ? context.clientOptions.model : response.model,
    content: response.blocks
      .filter((block) => block.kind !== 'text' || block.text !== '')
      .map(writeMessagesBlock),
    stop_reason: messagesStop[response.stopReason],
    stop_sequence: response.stopSequence ?? null,
    ...writeStopDetails(response.stopReason, response.why),
    usage: writeMessagesUsage(response.usage),
  };
}

/** Returns what the provider says of a refusal, as a member; none for other reasons. */
export function writeStopDetails(reason: StopReason, why: string | undefined): JsonObject {
  if (reason !== 'refusal' || why === undefined) return {};
  return { stop_details: { type: 'refusal', category: null, explanation: why } };
}

const ERROR_TYPES: Record<CanonicalErrorKind, string> = {
  invalid: 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'billing_error',
  permission: 'permission_error',
  notFound: 'not_found_error',
  tooLarge: 'request_too_large',
  rateLimit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  internal: 'api_error',
};

const KIND_OF_TYPE = new Map(kindsByWord(ERROR_TYPES));

/** Reads an error body or the data of an `error` event (status 200: only its type counts). */
export function readMessagesError(status: number, body: unknown): CanonicalError {
  const error = objectOf(objectOf(body).error);
  const type = stringOf(error.type) ?? '';
  const byStatus = status < 400 ? 'internal' : errorKindOfStatus(status);
  return {
    kind: KIND_OF_TYPE.get(type) ?? byStatus,
    message: filledString(error.message) ?? plainErrorMessage(status),
  };
}

export function writeMessagesError(error: CanonicalError): JsonObject {
  const inside = { type: ERROR_TYPES[error.kind], message: error.message };
  return {
    type: 'error',
    error: error.code === undefined ? inside : { ...inside, code: error.code },
  };
}
