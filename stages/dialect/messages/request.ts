/** Requests of the messages dialect (`POST /v1/messages`). */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, JsonPath } from '../../model/block.ts';
import type { BlockHistory } from '../../model/block-history.ts';
import { createBlockList, isProgram } from '../block-list.ts';
import type { BlockHolder, BlockList } from '../block-list.ts';
import type { RequestFacts } from '../../model/dialect.ts';
import { isObject, listOf, stringOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { pathOf } from '../../model/target.ts';
import { checkFields } from '../validation.ts';
import type { FieldRule } from '../validation.ts';

const FIELDS: readonly FieldRule[] = [
  { name: 'model', type: 'string', required: true },
  { name: 'messages', type: 'array', required: true, filled: true },
  { name: 'max_tokens', type: 'integer', required: true },
  { name: 'stream', type: 'boolean' },
];

/** A request that is only counted needs no output limit. */
const COUNTED_FIELDS = FIELDS.filter(({ name }) => name !== 'max_tokens');

export function validateMessages(body: unknown, target: string): SvcError | undefined {
  return checkFields(body, pathOf(target).endsWith('/count_tokens') ? COUNTED_FIELDS : FIELDS);
}

export function messagesFacts(body: unknown): RequestFacts {
  const fields = isObject(body) ? body : {};
  const thinking = fields['thinking'];
  return Object.freeze({
    model: stringOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof fields['max_tokens'] === 'number' ? fields['max_tokens'] : undefined,
    usageOption: 'unsaid',
    hasTools: listOf(fields['tools']).length > 0,
    hasThinking: isObject(thinking) && thinking['type'] !== 'disabled',
  });
}

/**
 * Returns the system prompt first, then the messages; a tool result with a list of parts is one
 * block per part.
 */
export function messagesBlocks(body: unknown, history?: BlockHistory): readonly Block[] {
  const list = createBlockList(history);
  if (!isObject(body)) return list.blocks();
  readSystem(list, body['system']);
  for (const [i, message] of listOf(body['messages']).entries()) {
    if (isObject(message)) list.addItem(message, () => readMessage(list, message, i));
  }
  return list.blocks();
}

function readSystem(list: BlockList, system: unknown): void {
  const holder: BlockHolder = { message: -1, role: 'system', kind: 'system' };
  if (typeof system === 'string') list.addText(holder, 'system', system, ['system']);
  for (const [i, part] of listOf(system).entries()) {
    if (isObject(part)) list.addText(holder, 'system', part['text'], ['system', i, 'text'], part);
  }
}

function readMessage(list: BlockList, message: JsonObject, i: number): void {
  const named = message['role'];
  const role = named === 'assistant' || named === 'system' ? named : 'user';
  const holder: BlockHolder = { message: i, role, kind: role === 'system' ? 'system' : 'text' };
  const content = message['content'];
  const path: JsonPath = ['messages', i, 'content'];
  if (typeof content === 'string') list.addText(holder, holder.kind, content, path);
  for (const [j, part] of listOf(content).entries()) {
    if (isObject(part)) readPart(list, part, [...path, j], holder);
  }
}

function readPart(list: BlockList, part: JsonObject, path: JsonPath, holder: BlockHolder): void {
  switch (part['type']) {
    case 'text':
      return list.addText(holder, holder.kind, part['text'], [...path, 'text'], part);
    case 'tool_result':
      return readToolResult(list, part, [...path, 'content'], holder.message);
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return readToolUse(list, part, holder);
    case 'thinking':
      return list.addText(holder, 'thinking', part['thinking'], [...path, 'thinking'], part);
    case 'redacted_thinking':
      return list.add(holder, 'thinking', part);
    case 'image':
      return list.add(holder, 'image', part);
    case 'document':
      return readDocument(list, part, path, holder);
    default:
      return list.add(holder, 'other', part);
  }
}

function readToolUse(list: BlockList, part: JsonObject, holder: BlockHolder): void {
  const id = stringOf(part['id']);
  const input = part['input'] === undefined ? undefined : JSON.stringify(part['input']);
  const isOfProgram = isProgram(part['caller']);
  const call = { name: stringOf(part['name']), input, isOfProgram };
  if (id !== undefined) list.call(id, call);
  list.add({ ...holder, call }, 'tool_use', part, input);
}

function readToolResult(
  list: BlockList,
  result: JsonObject,
  path: JsonPath,
  message: number,
): void {
  const toolUseId = stringOf(result['tool_use_id']);
  const holder: BlockHolder = {
    message,
    role: 'tool',
    kind: 'tool_result',
    toolUseId,
    call: list.callOf(toolUseId),
    isError: result['is_error'] === true,
    hasCacheControl: isObject(result['cache_control']),
  };
  const content = result['content'];
  if (!Array.isArray(content)) return list.addText(holder, 'tool_result', content, path);
  if (content.length === 0) list.add(holder, 'tool_result');
  for (const [k, part] of content.entries()) {
    if (isObject(part)) readPart(list, part, [...path, k], holder);
  }
}

/** A document may be plain text, which the model reads like any other. */
function readDocument(
  list: BlockList,
  part: JsonObject,
  path: JsonPath,
  holder: BlockHolder,
): void {
  const source = part['source'];
  if (isObject(source) && source['type'] === 'text') {
    list.addText(holder, 'document', source['data'], [...path, 'source', 'data'], part);
  } else {
    list.add(holder, 'document', part);
  }
}
