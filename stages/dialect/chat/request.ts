/** Requests of the chat dialect (`POST /v1/chat/completions`). */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, BlockKind, JsonPath } from '../../model/block.ts';
import { createBlockList } from '../block-list.ts';
import type { BlockDraft, BlockList, ToolCall } from '../block-list.ts';
import type { RequestFacts } from '../dialect.ts';
import { isObject, listOf, textOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { checkFields } from '../validation.ts';
import type { FieldRule } from '../validation.ts';

const FIELDS: readonly FieldRule[] = [
  { name: 'model', type: 'string', required: true },
  { name: 'messages', type: 'array', required: true, filled: true },
  { name: 'max_tokens', type: 'integer' },
  { name: 'max_completion_tokens', type: 'integer' },
  { name: 'stream', type: 'boolean' },
];

export function validateChat(body: unknown): SvcError | undefined {
  return checkFields(body, FIELDS);
}

export function chatFacts(body: unknown): RequestFacts {
  const fields = isObject(body) ? body : {};
  const options = fields['stream_options'];
  const limit = fields['max_completion_tokens'] ?? fields['max_tokens'];
  const thinking = fields['thinking'];
  return Object.freeze({
    model: textOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    asksForUsage: isObject(options) && options['include_usage'] === true,
    hasTools: listOf(fields['tools']).length > 0 || listOf(fields['functions']).length > 0,
    hasThinking:
      (textOf(fields['reasoning_effort']) ?? 'none') !== 'none' ||
      isObject(fields['reasoning']) ||
      (isObject(thinking) && thinking['type'] !== 'disabled'),
  });
}

export function chatBlocks(body: unknown): readonly Block[] {
  const list = createBlockList();
  if (!isObject(body)) return list.blocks();
  for (const [i, message] of listOf(body['messages']).entries()) {
    if (isObject(message)) readMessage(list, message, i);
  }
  return list.blocks();
}

function readMessage(list: BlockList, message: JsonObject, i: number): void {
  const path: JsonPath = ['messages', i];
  const base = baseOf(list, message, i);
  const reasoning = message['reasoning_content'] === undefined ? 'reasoning' : 'reasoning_content';
  addText(list, message, reasoning, path, { ...base, kind: 'thinking' });
  addText(list, message, 'content', path, base);
  for (const [j, part] of listOf(message['content']).entries()) {
    if (isObject(part)) readPart(list, part, [...path, 'content', j], base);
  }
  addText(list, message, 'refusal', path, base);
  for (const [j, call] of listOf(message['tool_calls']).entries()) {
    if (isObject(call)) readCall(list, call, [...path, 'tool_calls', j], base);
  }
  const legacy = message['function_call'];
  if (isObject(legacy)) addCall(list, legacy, 'arguments', [...path, 'function_call'], base);
}

function baseOf(list: BlockList, message: JsonObject, i: number): BlockDraft {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { message: i, role: 'system', kind: 'system' };
    case 'assistant':
      return { message: i, role: 'assistant', kind: 'text' };
    case 'tool': {
      const toolUseId = textOf(message['tool_call_id']);
      return {
        message: i,
        role: 'tool',
        kind: 'tool_result',
        toolUseId,
        call: list.callOf(toolUseId),
      };
    }
    case 'function': {
      const name = textOf(message['name']);
      return {
        message: i,
        role: 'tool',
        kind: 'tool_result',
        call: list.callOf(name) ?? { name, input: undefined },
      };
    }
    default:
      return { message: i, role: 'user', kind: 'text' };
  }
}

function addText(
  list: BlockList,
  holder: JsonObject,
  field: string,
  path: JsonPath,
  base: BlockDraft,
): void {
  const text = textOf(holder[field]);
  if (text !== undefined) list.add({ ...base, path: [...path, field], text });
}

const MEDIA: Readonly<Record<string, BlockKind>> = {
  image_url: 'image',
  file: 'document',
  document_url: 'document',
};

function readPart(list: BlockList, part: JsonObject, path: JsonPath, base: BlockDraft): void {
  const marked = isObject(part['cache_control']) ? { ...base, hasCacheControl: true } : base;
  const type = String(part['type']);
  if (type === 'text' || type === 'refusal') return addText(list, part, type, path, marked);
  // Some providers return reasoning as a part of the content, its text nested once more.
  list.add({ ...marked, kind: type === 'thinking' ? 'thinking' : (MEDIA[type] ?? 'other') });
}

function readCall(list: BlockList, call: JsonObject, path: JsonPath, base: BlockDraft): void {
  const id = textOf(call['id']);
  if (isObject(call['function'])) {
    addCall(list, call['function'], 'arguments', [...path, 'function'], base, id);
  } else if (isObject(call['custom'])) {
    addCall(list, call['custom'], 'input', [...path, 'custom'], base, id);
  }
}

/** The legacy form has no ids: its results name the function instead. */
function addCall(
  list: BlockList,
  call: JsonObject,
  field: 'arguments' | 'input',
  path: JsonPath,
  base: BlockDraft,
  id: string | undefined = textOf(call['name']),
): void {
  const text = textOf(call[field]);
  const input = field === 'input' && text !== undefined ? JSON.stringify(text) : text;
  const toolCall: ToolCall = { name: textOf(call['name']), input };
  if (id !== undefined) list.call(id, toolCall);
  const at = text === undefined ? {} : { path: [...path, field], text };
  list.add({ message: base.message, role: base.role, kind: 'tool_use', ...at });
}
