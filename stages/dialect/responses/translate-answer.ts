/** Answers and errors of the responses dialect, both ways. */
import { totalInputTokens, type Usage } from '../../model/usage.ts';
import type {
  CanonicalBlock,
  CanonicalError,
  CanonicalResponse,
  ImageBlock,
  JsonObject,
  StopReason,
} from '../canonical.ts';
import { readChatError } from '../chat/translate-answer.ts';
import type { AnswerContext, ClientOptions } from '../translate/dialect.ts';
import { unwrapFreeform } from '../translate/freeform.ts';
import { answerId } from '../translate/ids.ts';
import { parseArguments } from '../exact-json.ts';
import { defined, filledString, isObject, objectOf } from '../json-kind.ts';

/**
 * Returns why an answer stopped: from its status, the detail of an incomplete one, and whether it
 * has tool calls.
 */
export function readResponsesStop(response: JsonObject, calls: boolean): StopReason {
  if (response.status === 'incomplete') {
    const reason = objectOf(response.incomplete_details).reason;
    return reason === 'content_filter' ? 'refusal' : 'maxTokens';
  }
  if (response.status === 'failed' || response.status === 'cancelled') return 'failed';
  return calls ? 'toolUse' : 'end';
}

/** Returns `status` and `incomplete_details` for a stop reason. */
export function writeResponsesStop(reason: StopReason): JsonObject {
  switch (reason) {
    case 'maxTokens':
    case 'contextWindow':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    case 'refusal':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    default:
      return { status: 'completed', incomplete_details: null };
  }
}

/** Null if nothing was measured. */
export function writeResponsesUsage(usage: Usage): JsonObject | null {
  const input = totalInputTokens(usage);
  if (input === null && usage.outputTokens === null) return null;
  return {
    input_tokens: input ?? 0,
    input_tokens_details: defined({
      cached_tokens: usage.cacheReadTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? undefined,
    }),
    output_tokens: usage.outputTokens ?? 0,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: (input ?? 0) + (usage.outputTokens ?? 0),
  };
}

export function writeResponsesResponse(
  response: CanonicalResponse,
  context: AnswerContext,
): JsonObject {
  const output = response.blocks.flatMap((block) => writeOutputItem(block, context) ?? []);
  return {
    ...responseEnvelope(response, context),
    ...writeResponsesStop(response.stopReason),
    output,
    usage: writeResponsesUsage(response.usage),
  };
}

/** Returns the fields that every response object has, whatever its outcome. */
export function responseEnvelope(
  identity: Pick<CanonicalResponse, 'id' | 'model' | 'createdS'>,
  context: AnswerContext,
): JsonObject {
  return {
    id: answerId('resp_', identity.id, context.ids),
    object: 'response',
    created_at: identity.createdS ?? Math.floor(context.now() / 1000),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: identity.model === '' ? context.clientOptions.model : identity.model,
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
  };
}

/**
 * Writes one block as a finished output item; undefined for blocks that the dialect's answers do
 * not have.
 */
export function writeOutputItem(
  block: CanonicalBlock,
  context: AnswerContext,
): JsonObject | undefined {
  switch (block.kind) {
    case 'text':
      return messageItem(context, {
        type: 'output_text',
        text: block.text,
        annotations: [],
        logprobs: [],
      });
    case 'refusal':
      return messageItem(context, { type: 'refusal', refusal: block.text });
    case 'toolUse':
      return callItem(block, context);
    case 'image':
      return imageItem(block, context);
    default:
      return undefined;
  }
}

/** Returns how the client expects a call of this tool to be written. */
export function callForm(
  name: string,
  clientOptions: ClientOptions,
): 'function' | 'custom' | 'search' {
  if (clientOptions.freeformTools.includes(name)) return 'custom';
  return clientOptions.searchTools.includes(name) ? 'search' : 'function';
}

function messageItem(context: AnswerContext, part: JsonObject): JsonObject {
  const id = `msg_${context.ids()}`;
  return { id, type: 'message', role: 'assistant', status: 'completed', content: [part] };
}

/** An image as the dialect's own tool for images returns it. */
function imageItem({ source }: ImageBlock, context: AnswerContext): JsonObject | undefined {
  if (source.from !== 'base64') return undefined;
  const output_format = source.mediaType.replace(/^image\//, '');
  const id = `ig_${context.ids()}`;
  return {
    id,
    type: 'image_generation_call',
    status: 'completed',
    output_format,
    result: source.data,
  };
}

function callItem(
  block: Extract<CanonicalBlock, { kind: 'toolUse' }>,
  context: AnswerContext,
): JsonObject {
  const { id, input } = block;
  const own = context.ids();
  const { name, namespace } = spacedName(block.name);
  const form = callForm(block.name, context.clientOptions);
  if (form === 'search') return searchItem(id, input, `tsc_${own}`);
  if (form === 'custom') {
    const text = unwrapFreeform(input);
    return {
      id: `ctc_${own}`,
      type: 'custom_tool_call',
      call_id: id,
      name,
      ...namespace,
      input: text,
    };
  }
  return {
    id: `fc_${own}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    ...namespace,
    arguments: input.trim() === '' ? '{}' : input,
  };
}

function searchItem(callId: string, input: string, id: string): JsonObject {
  // Searching for whatever the model wrote is better than no search.
  const query = parseArguments(input) ?? { query: input };
  const status = 'completed';
  return {
    id,
    type: 'tool_search_call',
    status,
    call_id: callId,
    execution: 'client',
    arguments: query,
  };
}

/** A dotted name belongs to a tool in a namespace. */
function spacedName(dotted: string): { name: string; namespace: JsonObject } {
  const at = dotted.indexOf('.');
  if (at < 0) return { name: dotted, namespace: {} };
  return { name: dotted.slice(at + 1), namespace: { namespace: dotted.slice(0, at) } };
}

/**
 * The event `error` has its fields at the top, `response.failed` inside the response, a body under
 * `error`.
 */
export function readResponsesError(status: number, body: unknown): CanonicalError {
  const whole = objectOf(body);
  const inside = objectOf(whole.response).error;
  if (isObject(inside)) return readChatError(status, { error: inside });
  if (isObject(whole.error) || filledString(whole.message) === undefined) {
    return readChatError(status, whole);
  }
  return readChatError(status, { error: { message: whole.message, code: whole.code } });
}
