/**
 * The input items of a responses request, both ways: messages, calls and their outputs, content
 * parts.
 */
import type {
  CanonicalBlock,
  CanonicalMessage,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  MediaSource,
  Note,
  TextBlock,
  ToolResultBlock,
} from '../canonical.ts';
import { cannotCarry } from '../translate/errors.ts';
import { wrapFreeform } from '../translate/freeform.ts';
import { exactJson } from '../exact-json.ts';
import { filledString, objectsOf, stringOf, wordOf } from '../json-kind.ts';
import { addressOf, documentOf, sourceOf } from '../translate/media.ts';
import { readableText, readUnknown, unreadable, type BlockPlace } from '../translate/readable.ts';
import { callIdOf, callIdsOf, runInput, runResult } from './translate-runs.ts';
import {
  isClientSearch,
  namesOf,
  namespacedName,
  searchInput,
  TOOL_SEARCH,
} from './translate-tools.ts';

/** Reads `input` as messages, one per item; neighbours are merged later for all dialects. */
export function readInput(input: unknown, note: Note): CanonicalMessage[] {
  if (typeof input === 'string') return [{ role: 'user', blocks: [{ kind: 'text', text: input }] }];
  const items = objectsOf(input);
  // It is all that the user says in this turn; an older one has its outcome beside it.
  if (items.at(-1)?.type === 'mcp_approval_response')
    throw cannotCarry('the approval of a call that its provider makes (mcp_approval_response)');
  const ids = callIdsOf(items);
  return items.flatMap((item) => readItem(item, ids, note));
}

function readItem(
  item: JsonObject,
  ids: ReadonlyMap<string, string>,
  note: Note,
): CanonicalMessage | [] {
  switch (item.type ?? 'message') {
    case 'message':
      return readMessageItem(item, note);
    case 'function_call':
      return assistant({
        kind: 'toolUse',
        id: stringOf(item.call_id) ?? '',
        name: namespacedName(item),
        input: stringOf(item.arguments) ?? '',
      });
    case 'custom_tool_call':
      return assistant({
        kind: 'toolUse',
        id: stringOf(item.call_id) ?? '',
        name: namespacedName(item),
        input: wrapFreeform(stringOf(item.input) ?? ''),
      });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', blocks: [readOutput(item, note)] };
    // Their tools are read with the others.
    case 'additional_tools':
      return [];
    case 'tool_search_call':
    case 'tool_search_output':
      if (isClientSearch(item)) return readSearch(item);
      note('the provider’s own search for tools left out: what it found is offered at once');
      return [];
    case 'reasoning':
      return assistant({ kind: 'thinking', text: summaryOf(item), provider: 'responses' });
    default:
      return readOwnItem(item, ids, note);
  }
}

/**
 * Items that refer to content stored at the provider: without it the conversation has no beginning.
 */
const STORED = new Set(['compaction', 'compaction_summary', 'item_reference']);

/**
 * Reads an item that only this dialect has. A call with an id that the client answered is a call
 * like any other; everything else was done by the provider itself, and the answer contains its
 * outcome.
 */
function readOwnItem(
  item: JsonObject,
  ids: ReadonlyMap<string, string>,
  note: Note,
): CanonicalMessage | [] {
  const image = madeImage(item);
  if (image !== undefined) return assistant(image);
  const type = wordOf(item.type);
  const text = readableText(item);
  if (STORED.has(type) && text === '') throw cannotCarry(`an input item of type ${type}`);
  const id = callIdOf(item, ids);
  const what = /^(.+)_call(_output)?$/.exec(type);
  if (id !== undefined && what?.[2] === undefined && what !== null) {
    const input = exactJson(runInput(item));
    return assistant({ kind: 'toolUse', id, name: what[1]!, input });
  }
  if (id !== undefined && what !== null) {
    const { parts, isError } = runResult(item);
    const content = parts.flatMap((part) => readPart(part, 'result', note) ?? []);
    return { role: 'user', blocks: [{ kind: 'toolResult', toolUseId: id, content, isError }] };
  }
  const role = item.role === 'user' ? 'user' : 'assistant';
  const read = readUnknown(item, role, note);
  return read === undefined ? [] : { role, blocks: [read] };
}

/**
 * Reads a search for tools that the client ran; the tools found are declared with the other tools.
 */
function readSearch(item: JsonObject): CanonicalMessage {
  const id = stringOf(item.call_id) ?? '';
  if (item.type === 'tool_search_call') {
    return assistant({ kind: 'toolUse', id, name: TOOL_SEARCH, input: searchInput(item) });
  }
  const names = namesOf(item.tools);
  const text =
    names.length === 0 ? 'No tools found' : `Tools that can be called now: ${names.join(', ')}`;
  const content: TextBlock[] = [{ kind: 'text', text }];
  return { role: 'user', blocks: [{ kind: 'toolResult', toolUseId: id, content, isError: false }] };
}

/** Returns the image in an item of the provider's tool for images; undefined for other items. */
export function madeImage(item: JsonObject): ImageBlock | undefined {
  const data = filledString(item.result);
  if (item.type !== 'image_generation_call' || data === undefined) return undefined;
  const mediaType = `image/${filledString(item.output_format) ?? 'png'}`;
  return { kind: 'image', source: { from: 'base64', mediaType, data } };
}

function assistant(block: CanonicalBlock): CanonicalMessage {
  return { role: 'assistant', blocks: [block] };
}

function readMessageItem(item: JsonObject, note: Note): CanonicalMessage {
  const { role, content } = item;
  const place = role === 'assistant' || role === 'user' ? role : 'system';
  const blocks: CanonicalBlock[] =
    typeof content === 'string'
      ? [{ kind: 'text', text: content }]
      : objectsOf(content).flatMap((part) => readPart(part, place, note) ?? []);
  if (role === 'developer' || role === 'system') return { role: 'system', blocks };
  if (role === 'user' || role === 'assistant') return { role, blocks };
  throw cannotCarry(`a message of role ${wordOf(role)}`);
}

function readPart(
  part: JsonObject,
  place: BlockPlace,
  note: Note,
): TextBlock | ImageBlock | DocumentBlock | undefined {
  const isStored = filledString(part.file_id) !== undefined && place === 'result';
  if (isStored) return unreadable(`a file (${wordOf(part.type)})`, note);
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', text: stringOf(part.text) ?? '' };
    case 'refusal':
      return { kind: 'text', text: stringOf(part.refusal) ?? '' };
    case 'input_image':
      return { kind: 'image', source: readUrl(part.image_url) };
    case 'input_file':
      return documentOf(readUrl(part.file_data ?? part.file_url), filledString(part.filename));
    default:
      return readUnknown(part, place, note);
  }
}

function readUrl(address: unknown): MediaSource {
  const url = filledString(address);
  if (url === undefined) throw cannotCarry('a file that is stored at its provider');
  return sourceOf(url);
}

function readOutput(item: JsonObject, note: Note): ToolResultBlock {
  const { output } = item;
  const content: ToolResultBlock['content'] =
    typeof output === 'string'
      ? [{ kind: 'text', text: output }]
      : objectsOf(output).flatMap((part) => readPart(part, 'result', note) ?? []);
  return { kind: 'toolResult', toolUseId: stringOf(item.call_id) ?? '', content, isError: false };
}

function summaryOf(item: JsonObject): string {
  const parts = objectsOf(item.summary ?? item.content);
  return parts.map((part) => stringOf(part.text) ?? '').join('\n');
}

/** Writes one canonical message as input items, in order. */
export function writeItems(message: CanonicalMessage): JsonObject[] {
  const results = message.blocks.filter((block) => block.kind === 'toolResult').map(writeOutput);
  const items: JsonObject[] = [...results];
  let content: JsonObject[] = [];
  const flush = (): void => {
    if (content.length > 0) items.push({ type: 'message', role: message.role, content });
    content = [];
  };
  for (const block of message.blocks) {
    if (block.kind === 'toolResult') continue;
    if (block.kind !== 'toolUse') {
      content.push(writePart(block, message.role));
      continue;
    }
    flush();
    const { id, name, input } = block;
    const text = input.trim() === '' ? '{}' : input;
    items.push({ type: 'function_call', call_id: id, name, arguments: text });
  }
  flush();
  return items;
}

function writeOutput(block: ToolResultBlock): JsonObject {
  const plain = block.content.every((part) => part.kind === 'text');
  const output = plain
    ? block.content.map((part) => (part.kind === 'text' ? part.text : '')).join('\n')
    : block.content.map((part) => writePart(part, 'user'));
  return { type: 'function_call_output', call_id: block.toolUseId, output };
}

function writePart(block: CanonicalBlock, role: CanonicalMessage['role']): JsonObject {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: role === 'assistant' ? 'output_text' : 'input_text', text: block.text };
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: addressOf(block.source) };
    case 'document':
      return writeFile(block);
    default:
      throw cannotCarry(`a ${block.kind} block`);
  }
}

function writeFile(block: DocumentBlock): JsonObject {
  const { source } = block;
  if (source.from === 'text') return { type: 'input_text', text: source.text };
  if (source.from === 'url') return { type: 'input_file', file_url: source.url };
  const filename = block.title ?? 'document.pdf';
  return { type: 'input_file', filename, file_data: addressOf(source) };
}
