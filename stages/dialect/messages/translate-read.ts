/**
 * Reads a messages request into the canonical form. What no other dialect can express is refused.
 */
import type {
  CanonicalMessage,
  CanonicalRequest,
  Effort,
  JsonObject,
  Reasoning,
  ResponseFormat,
  ToolChoice,
} from '../canonical.ts';
import { droppedParts, noteDropped } from '../translate/dropped-fields.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { cannotCarry } from '../translate/errors.ts';
import {
  booleanOf,
  defined,
  filledString,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  wordOf,
} from '../json-kind.ts';
import { readMessagesBlocks } from './translate-blocks.ts';
import { readMessagesTools } from './translate-tools.ts';

const KNOWN = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'thinking',
  'output_config',
  'output_format',
  'mcp_servers',
]);

/**
 * Some clients put a per-request line for their own provider's billing first; elsewhere it only
 * breaks the cache.
 */
const BILLING_HEADER = 'x-anthropic-billing-header';

/**
 * Throws `unprocessable` for what the conversation requires and no other dialect has: files by id,
 * stored threads and the like.
 */
export function readMessagesRequest(
  body: JsonObject,
  context: ReadRequestContext,
): CanonicalRequest {
  refuseServerState(body);
  if (isObject(objectOf(body.output_config).task_budget)) {
    context.note(droppedParts.taskBudget);
  }
  noteDropped('messages', body, KNOWN, context.note);
  const choice = objectOf(body.tool_choice);
  return defined({
    model: stringOf(body.model) ?? '',
    system: readSystem(body.system, context),
    messages: sinceSummary(objectsOf(body.messages), context).map((message) =>
      readMessage(message, context),
    ),
    tools: readMessagesTools(body, context),
    toolChoice: readChoice(choice),
    parallelTools: booleanOf(choice.disable_parallel_tool_use) === true ? false : undefined,
    maxOutputTokens: numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: stringsOf(body.stop_sequences),
    stream: body.stream === true,
    responseFormat: readFormat(body),
    reasoning: readReasoning(body, context),
  });
}

/** State and tasks that live at the provider cannot follow the request elsewhere. */
function refuseServerState(body: JsonObject): void {
  if (body.container !== undefined && body.container !== null) {
    throw cannotCarry('a container of its provider');
  }
  const thread = objectOf(body.thread);
  if (thread.type === 'continue' || filledString(thread.previous_message_id) !== undefined) {
    throw cannotCarry('a conversation that is stored at its provider (thread)');
  }
  if (isObject(body.compaction))
    throw cannotCarry('an order to sum the conversation up (compaction)');
  if (body.max_tokens === 0)
    throw cannotCarry('a request that only warms the cache of its provider (max_tokens: 0)');
  const region = stringOf(body.inference_geo);
  if (region !== undefined && region !== 'global') {
    throw cannotCarry('a rule on where it may be processed (inference_geo)');
  }
}

function readSystem(system: unknown, context: ReadRequestContext): string[] {
  const texts =
    typeof system === 'string'
      ? [system]
      : readMessagesBlocks(system, context, 'system').flatMap((block) =>
          block.kind === 'text' ? block.text : [],
        );
  return texts.filter((text) => {
    if (!text.startsWith(BILLING_HEADER)) return text !== '';
    context.note(droppedParts.billing);
    return false;
  });
}

function readMessage(message: JsonObject, context: ReadRequestContext): CanonicalMessage {
  const role = message.role;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw cannotCarry(`a message of role ${wordOf(role)}`);
  }
  return { role, blocks: readMessagesBlocks(message.content, context, role) };
}

/** Returns the effort set by the newest turn itself. */
function effortOfTurn(messages: readonly JsonObject[]): string | undefined {
  const last = messages.findLast(({ role }) => role === 'user' || role === 'system');
  return last?.role === 'system' ? stringOf(objectOf(last.output_config).effort) : undefined;
}

/**
 * Returns the part of a summarised conversation that the provider reads: the last summary, and what
 * follows it. Clients also send what precedes it. The summary is not an answer, and may come first.
 */
function sinceSummary(
  messages: readonly JsonObject[],
  { note }: ReadRequestContext,
): readonly JsonObject[] {
  const at = messages.findLastIndex(({ content }) => objectsOf(content).some(isSummary));
  const last = messages[at];
  if (last === undefined) return messages;
  const blocks = objectsOf(last.content);
  const place = blocks.findLastIndex(isSummary);
  if (at > 0 || place > 0) note(droppedParts.summedUp);
  return [
    { role: 'user', content: [blocks[place]] },
    { ...last, content: blocks.slice(place + 1) },
    ...messages.slice(at + 1),
  ];
}

const isSummary = ({ type, content }: JsonObject): boolean =>
  type === 'compaction' && filledString(content) !== undefined;

function readChoice(choice: JsonObject): ToolChoice | undefined {
  switch (choice.type) {
    case 'auto':
    case 'any':
    case 'none':
      return { mode: choice.type };
    case 'tool':
      return { mode: 'any', only: [stringOf(choice.name) ?? ''] };
    default:
      return undefined;
  }
}

function readFormat(body: JsonObject): ResponseFormat | undefined {
  const current = objectOf(body.output_config).format;
  const format = isObject(current) ? current : objectOf(body.output_format);
  if (format.type !== 'json_schema') return undefined;
  return { kind: 'schema', schema: objectOf(format.schema), strict: true };
}

const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

/** An effort without a thinking parameter still counts: in other dialects both are one field. */
function readReasoning(body: JsonObject, { note }: ReadRequestContext): Reasoning | undefined {
  const thinking = objectOf(body.thinking);
  const ofTurn = effortOfTurn(objectsOf(body.messages));
  const effortName = ofTurn ?? stringOf(objectOf(body.output_config).effort);
  const effort =
    effortName !== undefined && EFFORTS.has(effortName) ? (effortName as Effort) : undefined;
  if (effortName !== undefined && effort === undefined) note(droppedParts.effort);
  if (thinking.type === 'disabled' || thinking.type === 'between_tools') {
    if (effort !== undefined) note(droppedParts.effortAlone);
    return { on: false };
  }
  const isAsked = thinking.type === 'enabled' || thinking.type === 'adaptive';
  if (!isAsked && effort === undefined) return undefined;
  return defined({
    on: true,
    effort,
    budgetTokens: numberOf(thinking.budget_tokens),
  });
}
