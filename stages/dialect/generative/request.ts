/**
 * Requests of the generative dialect (`POST /v1beta/models/<model>:generateContent`). The
 * API takes every field in camel and in snake case, and clients send both.
 */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, BlockKind, JsonPath } from '../../model/block.ts';
import type { BlockHistory } from '../../model/block-history.ts';
import { createBlockList } from '../block-list.ts';
import type { BlockHolder, BlockList } from '../block-list.ts';
import type { RequestFacts } from '../../model/dialect.ts';
import { modelInPath, pathOf } from '../../model/target.ts';
import { isObject, listOf, stringOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { checkFields } from '../validation.ts';

/** A body to be counted has several forms, which the provider knows. */
export function validateGenerative(body: unknown, target: string): SvcError | undefined {
  if (pathOf(target).endsWith(COUNTS)) return undefined;
  return checkFields(body, [{ name: 'contents', type: 'array', required: true, filled: true }]);
}

const COUNTS = ':countTokens';

/**
 * Returns the request in a body, and where it is: one to be counted may be inside another member.
 */
function requestIn(body: unknown): { readonly fields: JsonObject; readonly path: JsonPath } {
  if (!isObject(body)) return { fields: {}, path: [] };
  const inner = field(body, 'generateContentRequest', 'generate_content_request');
  return isObject(inner.value)
    ? { fields: inner.value, path: [inner.name] }
    : { fields: body, path: [] };
}

export function generativeFacts(body: unknown, target: string): RequestFacts {
  const { fields } = requestIn(body);
  const settings = field(fields, 'generationConfig', 'generation_config').value;
  const config = isObject(settings) ? settings : {};
  const limit = field(config, 'maxOutputTokens', 'max_output_tokens').value;
  const tools = fields['tools'];
  return Object.freeze({
    model: modelInPath(target),
    stream: target.includes(':streamGenerateContent'),
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    usageOption: 'unsaid',
    hasTools: isObject(tools) || listOf(tools).length > 0,
    hasThinking: isObject(field(config, 'thinkingConfig', 'thinking_config').value),
  });
}

/**
 * Returns the system instruction first, then the contents; a function response is one block for
 * each text in it.
 */
export function generativeBlocks(body: unknown, history?: BlockHistory): readonly Block[] {
  const list = createBlockList(history);
  const { fields, path } = requestIn(body);
  const system = field(fields, 'systemInstruction', 'system_instruction');
  if (isObject(system.value)) {
    const holder = { message: -1, role: 'system', kind: 'system' } as const;
    readParts(list, system.value['parts'], [...path, system.name, 'parts'], holder);
  }
  for (const [i, content] of listOf(fields['contents']).entries()) {
    if (!isObject(content)) continue;
    const role = content['role'] === 'model' ? 'assistant' : 'user';
    const holder = { message: i, role, kind: 'text' } as const;
    const parts: JsonPath = [...path, 'contents', i, 'parts'];
    list.addItem(content, () => readParts(list, content['parts'], parts, holder));
  }
  return list.blocks();
}

function readParts(list: BlockList, parts: unknown, path: JsonPath, holder: BlockHolder): void {
  if (isObject(parts)) return readPart(list, parts, path, holder);
  for (const [j, part] of listOf(parts).entries()) {
    if (isObject(part)) readPart(list, part, [...path, j], holder);
  }
}

function readPart(list: BlockList, part: JsonObject, path: JsonPath, holder: BlockHolder): void {
  const call = field(part, 'functionCall', 'function_call').value;
  if (isObject(call)) return addCall(list, call, holder);
  const response = field(part, 'functionResponse', 'function_response');
  if (isObject(response.value)) {
    return addResponse(list, response.value, [...path, response.name], holder.message);
  }
  const text = stringOf(part['text']);
  if (text === undefined) return list.add(holder, mediaKind(part));
  const kind = part['thought'] === true ? 'thinking' : holder.kind;
  list.addText(holder, kind, text, [...path, 'text']);
}

function mediaKind(part: JsonObject): BlockKind {
  const data =
    field(part, 'inlineData', 'inline_data').value ?? field(part, 'fileData', 'file_data').value;
  if (!isObject(data)) return 'other';
  const type = stringOf(field(data, 'mimeType', 'mime_type').value) ?? '';
  return type.startsWith('image/') ? 'image' : 'document';
}

/** Calls rarely have ids; a response without one answers the latest call of its name. */
function addCall(list: BlockList, call: JsonObject, holder: BlockHolder): void {
  const name = stringOf(call['name']);
  const input = call['args'] === undefined ? undefined : JSON.stringify(call['args']);
  const id = stringOf(call['id']);
  const made = { name, input };
  if (id !== undefined) list.call(keyOf(id, undefined), made);
  if (name !== undefined) list.call(keyOf(undefined, name), made);
  list.add({ ...holder, call: made }, 'tool_use', undefined, input);
}

function keyOf(id: string | undefined, name: string | undefined): string {
  return id === undefined ? `name:${name ?? ''}` : `id:${id}`;
}

function addResponse(list: BlockList, result: JsonObject, path: JsonPath, message: number): void {
  const name = stringOf(result['name']);
  const toolUseId = stringOf(result['id']);
  const call = list.callOf(keyOf(toolUseId, name)) ?? { name, input: undefined };
  const holder: BlockHolder = { message, role: 'tool', kind: 'tool_result', toolUseId, call };
  const failed: BlockHolder = { ...holder, isError: true };
  const response = isObject(result['response']) ? result['response'] : {};
  const texts = Object.entries(response).filter(([, value]) => typeof value === 'string');
  if (texts.length === 0) list.add(holder, 'tool_result');
  for (const [key, text] of texts) {
    const at: JsonPath = [...path, 'response', key];
    list.addText(key === 'error' ? failed : holder, 'tool_result', text, at);
  }
}

/** Returns a field under either of its names, with the name that was used. */
function field(holder: JsonObject, camel: string, snake: string): { name: string; value: unknown } {
  return holder[camel] === undefined && holder[snake] !== undefined
    ? { name: snake, value: holder[snake] }
    : { name: camel, value: holder[camel] };
}
