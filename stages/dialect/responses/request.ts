/** Requests of the responses dialect (`POST /v1/responses`). */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, BlockKind, JsonPath } from '../../model/block.ts';
import { createBlockList } from '../block-list.ts';
import type { BlockDraft, BlockList } from '../block-list.ts';
import type { RequestFacts } from '../dialect.ts';
import { isObject, listOf, textOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { checkFields } from '../validation.ts';
import type { FieldRule } from '../validation.ts';

const FIELDS: readonly FieldRule[] = [
  { name: 'input', type: 'string or array' },
  { name: 'max_output_tokens', type: 'integer' },
  { name: 'stream', type: 'boolean' },
];

/** A stored prompt brings its own model, so `model` is required only without one. */
export function validateResponses(body: unknown): SvcError | undefined {
  const isStored = isObject(body) && isObject(body['prompt']);
  return checkFields(body, [{ name: 'model', type: 'string', required: !isStored }, ...FIELDS]);
}

export function responsesFacts(body: unknown): RequestFacts {
  const fields = isObject(body) ? body : {};
  const limit = fields['max_output_tokens'];
  return Object.freeze({
    model: textOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    asksForUsage: false,
    hasTools: listOf(fields['tools']).length > 0,
    hasThinking: isObject(fields['reasoning']),
  });
}

/** The instructions first, then the input items; an output with a list of parts is one block a part. */
export function responsesBlocks(body: unknown): readonly Block[] {
  const list = createBlockList();
  if (!isObject(body)) return list.blocks();
  addText(list, body, 'instructions', [], { message: -1, role: 'system', kind: 'system' });
  addText(list, body, 'input', [], { message: 0, role: 'user', kind: 'text' });
  for (const [i, item] of listOf(body['input']).entries()) {
    if (isObject(item)) readItem(list, item, i);
  }
  return list.blocks();
}

function readItem(list: BlockList, item: JsonObject, i: number): void {
  const path: JsonPath = ['input', i];
  const type = item['type'] ?? 'message';
  if (type === 'message') return addContent(list, item, 'content', path, messageBase(item, i));
  switch (type) {
    case 'function_call':
      return addCall(list, item, 'arguments', i);
    case 'custom_tool_call':
      return addCall(list, item, 'input', i);
    case 'local_shell_call':
    case 'shell_call':
      return addShellCall(list, item, i);
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return addContent(list, item, 'output', path, resultBase(list, item, i));
    case 'reasoning':
      return list.add({ message: i, role: 'assistant', kind: 'thinking' });
    default:
      return list.add({ message: i, role: 'assistant', kind: 'other' });
  }
}

function messageBase(item: JsonObject, i: number): BlockDraft {
  const role = item['role'];
  if (role === 'system' || role === 'developer') {
    return { message: i, role: 'system', kind: 'system' };
  }
  return { message: i, role: role === 'assistant' ? 'assistant' : 'user', kind: 'text' };
}

function resultBase(list: BlockList, item: JsonObject, i: number): BlockDraft {
  const toolUseId = textOf(item['call_id']) ?? textOf(item['id']);
  return { message: i, role: 'tool', kind: 'tool_result', toolUseId, call: list.callOf(toolUseId) };
}

function addCall(list: BlockList, item: JsonObject, field: 'arguments' | 'input', i: number): void {
  const id = textOf(item['call_id']);
  const text = textOf(item[field]);
  const input = field === 'input' && text !== undefined ? JSON.stringify(text) : text;
  if (id !== undefined) list.call(id, { name: textOf(item['name']), input });
  const at = text === undefined ? {} : { path: ['input', i, field], text };
  list.add({ message: i, role: 'assistant', kind: 'tool_use', ...at });
}

function addShellCall(list: BlockList, item: JsonObject, i: number): void {
  const id = textOf(item['call_id']) ?? textOf(item['id']);
  const input = item['action'] === undefined ? undefined : JSON.stringify(item['action']);
  if (id !== undefined) list.call(id, { name: 'shell', input });
  list.add({ message: i, role: 'assistant', kind: 'tool_use' });
}

const TEXT_PARTS = new Set(['input_text', 'output_text', 'text', 'summary_text']);
const MEDIA: Readonly<Record<string, BlockKind>> = {
  input_image: 'image',
  input_file: 'document',
  computer_screenshot: 'image',
};

/** Adds what stands at `field`: one string, or a list of parts. */
function addContent(
  list: BlockList,
  item: JsonObject,
  field: string,
  path: JsonPath,
  base: BlockDraft,
): void {
  addText(list, item, field, path, base);
  for (const [j, part] of listOf(item[field]).entries()) {
    if (!isObject(part)) continue;
    const type = String(part['type']);
    const at: JsonPath = [...path, field, j];
    const marked = { ...base, hasCitations: listOf(part['annotations']).length > 0 };
    if (TEXT_PARTS.has(type)) addText(list, part, 'text', at, marked);
    else if (type === 'refusal') addText(list, part, 'refusal', at, marked);
    else list.add({ ...marked, kind: MEDIA[type] ?? 'other' });
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
