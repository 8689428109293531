/** Answers and errors of the generative dialect, both ways. */
import { totalInputTokens, type Usage } from '../../model/usage.ts';
import type {
  CanonicalBlock,
  CanonicalError,
  CanonicalErrorKind,
  CanonicalResponse,
  JsonObject,
  StopReason,
} from '../canonical.ts';
import type { AnswerContext } from '../translate/dialect.ts';
import { errorKindOfStatus, plainErrorMessage, unreadableAnswer } from '../translate/errors.ts';
import { writeMedia } from './translate-content.ts';
import { parseArguments } from '../exact-json.ts';
import { defined, filledString, numberOf, objectOf } from '../json-kind.ts';

const REFUSALS: ReadonlySet<unknown> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'MODEL_ARMOR',
  'OTHER',
]);

/** Finish reasons after which the answer is not what the model meant. */
const FAILURES: ReadonlySet<unknown> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** The dialect has no finish reason for tool calls: `calls` says whether the answer has any. */
export function readGenerativeStop(wire: unknown, calls: boolean): StopReason {
  if (wire === 'MAX_TOKENS') return 'maxTokens';
  if (FAILURES.has(wire)) return 'failed';
  if (REFUSALS.has(wire)) return 'refusal';
  return calls ? 'toolUse' : 'end';
}

/** What the provider says of an end: its own words, else the reason. */
export function readGenerativeFailure({ finishReason, finishMessage }: JsonObject = {}):
  | string
  | undefined {
  return filledString(finishMessage) ?? filledString(finishReason);
}

/** The dialect's name of each reason. */
export const generativeStop: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  stopSequence: 'STOP',
  toolUse: 'STOP',
  pause: 'STOP',
  maxTokens: 'MAX_TOKENS',
  contextWindow: 'MAX_TOKENS',
  refusal: 'SAFETY',
  failed: 'OTHER',
};

/** Undefined if nothing was measured. */
export function writeGenerativeUsage(usage: Usage): JsonObject | undefined {
  const input = totalInputTokens(usage);
  if (input === null && usage.outputTokens === null) return undefined;
  return defined({
    promptTokenCount: input ?? 0,
    cachedContentTokenCount: usage.cacheReadTokens ?? undefined,
    candidatesTokenCount: Math.max(0, (usage.outputTokens ?? 0) - (usage.reasoningTokens ?? 0)),
    thoughtsTokenCount: usage.reasoningTokens ?? undefined,
    totalTokenCount: (input ?? 0) + (usage.outputTokens ?? 0),
  });
}

export function writeGenerativeResponse(
  response: CanonicalResponse,
  context: AnswerContext,
): JsonObject {
  return defined({
    candidates: [
      {
        content: { role: 'model', parts: response.blocks.flatMap(writeAnswerPart) },
        finishReason: generativeStop[response.stopReason],
        ...(response.why !== undefined && { finishMessage: response.why }),
        index: 0,
      },
    ],
    usageMetadata: writeGenerativeUsage(response.usage),
    modelVersion: response.model === '' ? context.clientOptions.model : response.model,
    responseId: response.id === '' ? context.ids() : response.id,
  });
}

function writeAnswerPart(block: CanonicalBlock): JsonObject[] {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }];
    case 'thinking':
      return [{ text: block.text, thought: true }];
    case 'toolUse':
      return [writeCall(block.id, block.name, block.input)];
    case 'image':
      return [writeMedia(block)];
    default:
      return [];
  }
}

/**
 * Writes a function call with its arguments as an object, which this dialect requires. Throws
 * `bad_gateway` for anything else.
 */
export function writeCall(id: string, name: string, input: string): JsonObject {
  const args = parseArguments(input);
  if (args === undefined) throw unreadableAnswer(`The arguments of a call of ${name} are not JSON`);
  return { functionCall: { id, name, args } };
}

const STATUSES: Record<CanonicalErrorKind, string> = {
  invalid: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  billing: 'FAILED_PRECONDITION',
  permission: 'PERMISSION_DENIED',
  notFound: 'NOT_FOUND',
  tooLarge: 'INVALID_ARGUMENT',
  rateLimit: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  internal: 'INTERNAL',
};

const KIND_OF_STATUS = new Map<unknown, CanonicalErrorKind>([
  ['INVALID_ARGUMENT', 'invalid'],
  ['UNAUTHENTICATED', 'authentication'],
  ['PERMISSION_DENIED', 'permission'],
  ['NOT_FOUND', 'notFound'],
  ['RESOURCE_EXHAUSTED', 'rateLimit'],
  ['UNAVAILABLE', 'overloaded'],
  ['DEADLINE_EXCEEDED', 'timeout'],
  ['INTERNAL', 'internal'],
]);

/**
 * Reads an error body, also one in an array or inside a stream (status 200; its own code then takes
 * its place).
 */
export function readGenerativeError(status: number, body: unknown): CanonicalError {
  const whole = objectOf(Array.isArray(body) ? body[0] : body);
  const error = objectOf(whole.error);
  const errorCode = numberOf(error.code);
  const actual =
    status >= 400 ? status : errorCode !== undefined && errorCode >= 400 ? errorCode : 500;
  return {
    kind: KIND_OF_STATUS.get(error.status) ?? errorKindOfStatus(actual),
    message: filledString(error.message) ?? plainErrorMessage(actual),
  };
}

export function writeGenerativeError(error: CanonicalError, status: number): JsonObject {
  return { error: { code: status, message: error.message, status: STATUSES[error.kind] } };
}
