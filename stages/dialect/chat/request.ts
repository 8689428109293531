/** Requests of the chat dialect (`POST /v1/chat/completions`). */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, JsonPath } from '../../model/block.ts';
import type { BlockHistory } from '../../model/block-history.ts';
import { createBlockList } from '../block-list.ts';
import type { BlockHolder, BlockList } from '../block-list.ts';
import type { RequestFacts } from '../../model/dialect.ts';
import { isObject, listOf, stringOf } from '../json-kind.ts';
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
    model: stringOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    usageOption: usageOption(options),
    hasTools: listOf(fields['tools']).length > 0 || listOf(fields['functions']).length > 0,
    hasThinking:
      (stringOf(fields['reasoning_effort']) ?? 'none') !== 'none' ||
      isObject(fields['reasoning']) ||
      (isObject(thinking) && thinking['type'] !== 'disabled'),
  });
}

function usageOption(options: unknown): RequestFacts['usageOption'] {
  if (options === undefined) return 'unsaid';
  if (!isObject(options)) return 'declined';
  if (!Object.hasOwn(options, 'include_usage')) return 'unsaid';
  return options['include_usage'] === true ? 'wanted' : 'declined';
}

export function chatBlocks(body: unknown, history?: BlockHistory): readonly Block[] {
  const list = createBlockList(history);
  if (!isObject(body)) return list.blocks();
  for (const [i, message] of listOf(body['messages']).entries()) {
    if (isObject(message)) list.addItem(message, () => readMessage(list, message, i));
  }
  return list.blocks();
}

function readMessage(list: BlockList, message: JsonObject, i: number): void {
  const path: JsonPath = ['messages', i];
  const holder = holderOf(list, message, i);
  const reasoning = message['reasoning_content'] === undefined ? 'reasoning' : 'reasoning_content';
  addField(list, message, reasoning, path, holder, 'thinking');
  addField(list, message, 'content', path, holder);
  // An empty result is still a result, and is counted as one.
  if (holder.role === 'tool' && isEmpty(message['content'])) list.add(holder, 'tool_result');
  for (const [j, part] of listOf(message['content']).entries()) {
    if (isObject(part)) readPart(list, part, [...path, 'content', j], holder);
  }
  addField(list, message, 'refusal', path, holder);
  for (const [j, call] of listOf(message['tool_calls']).entries()) {
    if (isObject(call)) readCall(list, call, [...path, 'tool_calls', j], holder);
  }
  const legacy = message['function_call'];
  if (isObject(legacy)) addCall(list, legacy, 'arguments', [...path, 'function_call'], holder);
}

function holderOf(list: BlockList, message: JsonObject, i: number): BlockHolder {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { message: i, role: 'system', kind: 'system' };
    case 'assistant':
      return { message: i, role: 'assistant', kind: 'text' };
    case 'tool': {
      const toolUseId = stringOf(message['tool_call_id']);
      const call = list.callOf(toolUseId);
      return { message: i, role: 'tool', kind: 'tool_result', toolUseId, call };
    }
    case 'function': {
      const name = stringOf(message['name']);
      const call = list.callOf(name) ?? { name, input: undefined };
      return { message: i, role: 'tool', kind: 'tool_result', call };
    }
    default:
      return { message: i, role: 'user', kind: 'text' };
  }
}

const isEmpty = (content: unknown): boolean =>
  typeof content !== 'string' && listOf(content).length === 0;

/** Adds the string at a field of a message; no block if the field is empty. */
function addField(
  list: BlockList,
  message: JsonObject,
  field: string,
  path: JsonPath,
  holder: BlockHolder,
  kind = holder.kind,
): void {
  const text = message[field];
  if (typeof text === 'string') list.addText(holder, kind, text, [...path, field]);
}

function readPart(list: BlockList, part: JsonObject, path: JsonPath, holder: BlockHolder): void {
  switch (part['type']) {
    case 'text':
      return list.addText(holder, holder.kind, part['text'], [...path, 'text'], part);
    case 'refusal':
      return list.addText(holder, holder.kind, part['refusal'], [...path, 'refusal'], part);
    case 'image_url':
      return list.add(holder, 'image', part);
    case 'file':
    case 'document_url':
      return list.add(holder, 'document', part);
    case 'thinking':
      // Some providers return reasoning as a content part, with its text nested once more.
      return list.add(holder, 'thinking', part);
    default:
      return list.add(holder, 'other', part);
  }
}

function readCall(list: BlockList, call: JsonObject, path: JsonPath, holder: BlockHolder): void {
  const id = stringOf(call['id']);
  if (isObject(call['function'])) {
    addCall(list, call['function'], 'arguments', [...path, 'function'], holder, id);
  } else if (isObject(call['custom'])) {
    addCall(list, call['custom'], 'input', [...path, 'custom'], holder, id);
  }
}

/** The legacy form has no ids: its results name the function instead. */
function addCall(
  list: BlockList,
  call: JsonObject,
  field: 'arguments' | 'input',
  path: JsonPath,
  holder: BlockHolder,
  id: string | undefined = stringOf(call['name']),
): void {
  const text = stringOf(call[field]);
  const input = field === 'input' && text !== undefined ? JSON.stringify(text) : text;
  const made = { name: stringOf(call['name']), input };
  if (id !== undefined) list.call(id, made);
  list.addText({ ...holder, call: made }, 'tool_use', text, [...path, field]);
}
