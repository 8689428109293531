/** Requests of the messages dialect (`POST /v1/messages`). */
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
  { name: 'model', type: 'string', required: true },
  { name: 'messages', type: 'array', required: true, filled: true },
  { name: 'max_tokens', type: 'integer', required: true },
  { name: 'stream', type: 'boolean' },
];

export function validateMessages(body: unknown): SvcError | undefined {
  return checkFields(body, FIELDS);
}

export function messagesFacts(body: unknown): RequestFacts {
  const fields = isObject(body) ? body : {};
  const thinking = fields['thinking'];
  return Object.freeze({
    model: textOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof fields['max_tokens'] === 'number' ? fields['max_tokens'] : undefined,
    asksForUsage: false,
    hasTools: listOf(fields['tools']).length > 0,
    hasThinking: isObject(thinking) && thinking['type'] !== 'disabled',
  });
}

/** The system prompt first, then the messages; a tool result with a list of parts is one block a part. */
export function messagesBlocks(body: unknown): readonly Block[] {
  const list = createBlockList();
  if (!isObject(body)) return list.blocks();
  readSystem(list, body['system']);
  for (const [i, message] of listOf(body['messages']).entries()) {
    if (isObject(message)) readMessage(list, message, i);
  }
  return list.blocks();
}

function readSystem(list: BlockList, system: unknown): void {
  const base = { message: -1, role: 'system', kind: 'system' } as const;
  if (typeof system === 'string') list.add({ ...base, path: ['system'], text: system });
  for (const [i, part] of listOf(system).entries()) {
    if (isObject(part)) list.add({ ...base, ...textAt(part, 'text', ['system', i]) });
  }
}

function readMessage(list: BlockList, message: JsonObject, i: number): void {
  const role =
    message['role'] === 'assistant' || message['role'] === 'system' ? message['role'] : 'user';
  const kind = role === 'system' ? 'system' : 'text';
  const path: JsonPath = ['messages', i, 'content'];
  const content = message['content'];
  if (typeof content === 'string') list.add({ message: i, role, kind, path, text: content });
  for (const [j, part] of listOf(content).entries()) {
    if (isObject(part)) readPart(list, part, [...path, j], { message: i, role, kind });
  }
}

type Base = Pick<BlockDraft, 'message' | 'role' | 'kind'>;

function readPart(list: BlockList, part: JsonObject, path: JsonPath, base: Base): void {
  switch (part['type']) {
    case 'text':
      return list.add({ ...base, ...textAt(part, 'text', path) });
    case 'tool_result':
      return readToolResult(list, part, path, base.message);
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return readToolUse(list, part, base);
    case 'thinking':
      return list.add({ ...base, kind: 'thinking', ...textAt(part, 'thinking', path) });
    case 'document':
      return list.add({ ...base, kind: 'document', ...documentText(part, path) });
    default:
      return list.add({ ...base, kind: kindOf(part), ...marks(part) });
  }
}

function kindOf(part: JsonObject): BlockKind {
  if (part['type'] === 'redacted_thinking') return 'thinking';
  return part['type'] === 'image' ? 'image' : 'other';
}

function readToolUse(list: BlockList, part: JsonObject, base: Base): void {
  const id = textOf(part['id']);
  const input = part['input'] === undefined ? undefined : JSON.stringify(part['input']);
  if (id !== undefined) list.call(id, { name: textOf(part['name']), input });
  list.add({ ...base, kind: 'tool_use', ...marks(part) });
}

function readToolResult(
  list: BlockList,
  result: JsonObject,
  path: JsonPath,
  message: number,
): void {
  const toolUseId = textOf(result['tool_use_id']);
  const base = {
    message,
    role: 'tool',
    kind: 'tool_result',
    toolUseId,
    call: list.callOf(toolUseId),
    isError: result['is_error'] === true,
    hasCacheControl: isObject(result['cache_control']),
  } as const;
  const content = result['content'];
  const inner: JsonPath = [...path, 'content'];
  if (!Array.isArray(content)) {
    const text = textOf(content);
    return list.add({ ...base, path: text === undefined ? undefined : inner, text: text ?? '' });
  }
  if (content.length === 0) list.add(base);
  for (const [k, part] of content.entries()) {
    if (!isObject(part)) continue;
    const at: JsonPath = [...inner, k];
    const marked = base.hasCacheControl ? { hasCacheControl: true } : {};
    if (part['type'] === 'text') list.add({ ...base, ...textAt(part, 'text', at), ...marked });
    else if (part['type'] === 'document') {
      list.add({ ...base, kind: 'document', ...documentText(part, at), ...marked });
    } else list.add({ ...base, kind: kindOf(part), ...marks(part), ...marked });
  }
}

type Marks = Pick<BlockDraft, 'hasCacheControl' | 'hasCitations'>;

function marks(part: JsonObject): Marks {
  return {
    hasCacheControl: isObject(part['cache_control']),
    hasCitations: hasCitations(part['citations']),
  };
}

/** Text carries a list of citations; a document says whether it may be cited. */
function hasCitations(citations: unknown): boolean {
  return isObject(citations) ? citations['enabled'] === true : listOf(citations).length > 0;
}

function textAt(part: JsonObject, field: string, path: JsonPath): Partial<BlockDraft> {
  const text = textOf(part[field]);
  return text === undefined ? marks(part) : { ...marks(part), path: [...path, field], text };
}

function documentText(part: JsonObject, path: JsonPath): Partial<BlockDraft> {
  const source = part['source'];
  if (!isObject(source) || source['type'] !== 'text') return marks(part);
  return { ...textAt(source, 'data', [...path, 'source']), ...marks(part) };
}
