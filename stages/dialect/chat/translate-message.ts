/**
 * The messages of the chat dialect, both ways: roles, content parts, tool calls and their results.
 */
import type {
  CanonicalBlock,
  CanonicalMessage,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  Note,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../canonical.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { cannotCarry } from '../translate/errors.ts';
import { wrapFreeform } from '../translate/freeform.ts';
import { exactJson } from '../exact-json.ts';
import {
  defined,
  filledString,
  isObject,
  objectOf,
  objectsOf,
  stringOf,
  wordOf,
} from '../json-kind.ts';
import { readUnknown, type BlockPlace } from '../translate/readable.ts';
import { membersOfCall, membersOfMessage, type ReasoningSupport } from './translate-marks.ts';
import { addressOf, documentOf, sourceOf } from '../translate/media.ts';

/** Returns the texts of content where nothing else can be carried, such as a system prompt. */
export function readChatText(content: unknown, note: Note): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return objectsOf(content).flatMap((part) => {
    if (part.type === 'text') return stringOf(part.text) ?? '';
    if (part.type === 'refusal') return stringOf(part.refusal) ?? '';
    return readUnknown(part, 'system', note)?.text ?? [];
  });
}

export function readChatMessage(
  message: JsonObject,
  context: Pick<ReadRequestContext, 'note'>,
): CanonicalMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', blocks: textBlocks(readChatText(message.content, context.note)) };
    case 'user':
      if (filledString(message.name) !== undefined) {
        context.note(droppedParts.userName);
      }
      return { role: 'user', blocks: readUserContent(message.content, context.note) };
    case 'assistant':
      return { role: 'assistant', blocks: readAssistant(message, context.note) };
    case 'tool':
      return { role: 'user', blocks: [readToolMessage(message, context.note)] };
    default:
      throw cannotCarry(`a message of role ${wordOf(message.role)}`);
  }
}

function textBlocks(texts: readonly string[]): TextBlock[] {
  return texts.map((text) => ({ kind: 'text', text }));
}

function readUserContent(content: unknown, note: Note): CanonicalBlock[] {
  if (typeof content === 'string') return textBlocks([content]);
  return objectsOf(content).flatMap((part) => readUserPart(part, 'user', note) ?? []);
}

function readUserPart(
  part: JsonObject,
  place: BlockPlace,
  note: Note,
): TextBlock | ImageBlock | DocumentBlock | undefined {
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: stringOf(part.text) ?? '' };
    case 'image_url':
      return { kind: 'image', source: sourceOf(imageAddress(part.image_url)) };
    case 'document_url':
      return documentOf(sourceOf(stringOf(part.document_url) ?? ''), undefined);
    case 'file':
      return readFile(objectOf(part.file));
    default:
      return readUnknown(part, place, note);
  }
}

function imageAddress(image: unknown): string {
  return stringOf(image) ?? stringOf(objectOf(image).url) ?? '';
}

function readFile(file: JsonObject): DocumentBlock {
  const data = stringOf(file.file_data);
  if (data === undefined) throw cannotCarry('a file that is stored at its provider');
  return documentOf(sourceOf(data), filledString(file.filename));
}

function readAssistant(message: JsonObject, note: Note): CanonicalBlock[] {
  const thinking = filledString(message.reasoning_content) ?? filledString(message.reasoning);
  const refusal = filledString(message.refusal);
  return [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...readAssistantContent(message.content, note),
    ...readSpoken(message.audio, note),
    ...objectsOf(message.images).map((image) => ({
      kind: 'image' as const,
      source: sourceOf(imageAddress(image.image_url)),
    })),
    ...(refusal === undefined ? [] : [{ kind: 'refusal' as const, text: refusal }]),
    ...objectsOf(message.tool_calls).map(readToolCall),
  ];
}

/** Spoken output is stored at its provider; its transcript may be in the message. */
function readSpoken(audio: unknown, note: Note): TextBlock[] {
  if (!isObject(audio)) return [];
  note(droppedParts.spoken);
  const transcript = filledString(audio.transcript);
  return transcript === undefined ? [] : textBlocks([transcript]);
}

function thinkingBlock(text: string): CanonicalBlock {
  return { kind: 'thinking', text, provider: 'chat' };
}

/** Some providers put their thinking among the parts of an assistant's content. */
function readAssistantContent(content: unknown, note: Note): CanonicalBlock[] {
  if (typeof content === 'string') return content === '' ? [] : textBlocks([content]);
  return objectsOf(content).flatMap((part): CanonicalBlock | [] => {
    if (part.type === 'thinking') return thinkingBlock(readChatText(part.thinking, note).join(''));
    if (part.type === 'refusal') return { kind: 'refusal', text: stringOf(part.refusal) ?? '' };
    if (part.type === 'text') return { kind: 'text', text: stringOf(part.text) ?? '' };
    return readUnknown(part, 'assistant', note) ?? [];
  });
}

const IGNORE_NOTES = (): void => undefined;

/**
 * Reads the content of an answer. It is the model's output, so unknown kinds of parts are skipped.
 */
export function readAnswerContent(content: unknown): CanonicalBlock[] {
  if (!Array.isArray(content)) return readAssistantContent(content, IGNORE_NOTES);
  const known = (value: unknown): JsonObject[] =>
    objectsOf(value).filter(({ type }) => type === 'text' || type === 'refusal');
  return objectsOf(content).flatMap((part) =>
    part.type === 'thinking'
      ? thinkingBlock(readChatText(known(part.thinking), IGNORE_NOTES).join(''))
      : readAssistantContent(known([part]), IGNORE_NOTES),
  );
}

/** Reads one entry of `tool_calls`, in a request or in an answer. */
export function readToolCall(call: JsonObject): ToolUseBlock {
  const id = stringOf(call.id) ?? '';
  if (call.type === 'custom') {
    const custom = objectOf(call.custom);
    const input = wrapFreeform(stringOf(custom.input) ?? '');
    return { kind: 'toolUse', id, name: stringOf(custom.name) ?? '', input };
  }
  const called = objectOf(call.function);
  const args = called.arguments;
  const input = typeof args === 'string' ? args : exactJson(objectOf(args));
  return { kind: 'toolUse', id, name: stringOf(called.name) ?? '', input };
}

function readToolMessage(message: JsonObject, note: Note): ToolResultBlock {
  const { content } = message;
  return {
    kind: 'toolResult',
    toolUseId: stringOf(message.tool_call_id) ?? '',
    content:
      typeof content === 'string'
        ? textBlocks(content === '' ? [] : [content])
        : objectsOf(content).flatMap((part) => readUserPart(part, 'result', note) ?? []),
    isError: false,
  };
}

/**
 * Writes one canonical message as chat messages: results first, each on its own. `reasoning` says
 * what the server requires of the reasoning before calls.
 */
export function writeChatMessages(
  message: CanonicalMessage,
  reasoning: ReasoningSupport,
): JsonObject[] {
  if (message.role === 'assistant') return [writeAssistant(message.blocks, reasoning)];
  if (message.role === 'system') {
    return [{ role: 'system', content: message.blocks.map(textOf).join('\n\n') }];
  }
  const results = message.blocks.filter((block) => block.kind === 'toolResult');
  const rest = message.blocks.filter((block) => block.kind !== 'toolResult');
  const parts = [...results.flatMap(writeResultMedia), ...rest.map(writePart)];
  const tools = results.map((result) => ({
    role: 'tool',
    tool_call_id: result.toolUseId,
    content: result.content
      .map(textOf)
      .filter((text) => text !== '')
      .join('\n'),
  }));
  return parts.length === 0 ? tools : [...tools, { role: 'user', content: simplifyParts(parts) }];
}

/**
 * Tool messages can only contain text, so a result's other content follows as a user message, under
 * the id of its call.
 */
function writeResultMedia(result: ToolResultBlock): JsonObject[] {
  const media = result.content.filter((part) => part.kind !== 'text' && !isTextDocument(part));
  if (media.length === 0) return [];
  const title = { type: 'text', text: `Attached to the result of tool call ${result.toolUseId}:` };
  return [title, ...media.map(writePart)];
}

function isTextDocument(block: CanonicalBlock): boolean {
  return block.kind === 'document' && block.source.from === 'text';
}

/** A single text part is sent as a string: some compatible servers accept nothing else. */
function simplifyParts(parts: readonly JsonObject[]): unknown {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'text' ? only.text : parts;
}

function textOf(block: CanonicalBlock): string {
  if (block.kind === 'text' || block.kind === 'refusal') return block.text;
  return block.kind === 'document' && block.source.from === 'text' ? block.source.text : '';
}

function writePart(block: CanonicalBlock): JsonObject {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(block.source) } };
    case 'document':
      return writeDocument(block);
    default:
      throw cannotCarry(`a ${block.kind} block in a user message`);
  }
}

function writeDocument(block: DocumentBlock): JsonObject {
  const { source } = block;
  if (source.from === 'text') return { type: 'text', text: source.text };
  if (source.from === 'url') throw cannotCarry('a document by its address');
  if (source.mediaType.startsWith('text/')) {
    return { type: 'text', text: Buffer.from(source.data, 'base64').toString('utf8') };
  }
  const filename = block.title ?? 'document.pdf';
  return { type: 'file', file: { filename, file_data: addressOf(source) } };
}

function writeAssistant(
  blocks: readonly CanonicalBlock[],
  reasoning: ReasoningSupport,
): JsonObject {
  const texts = blocks.filter((block) => block.kind === 'text').map((block) => block.text);
  const refused = blocks.filter((block) => block.kind === 'refusal').map((block) => block.text);
  const called = blocks.filter((block) => block.kind === 'toolUse');
  const calls = called.map((call) => ({ ...writeToolCall(call), ...membersOfCall(call) }));
  return defined({
    role: 'assistant',
    ...membersOfMessage(called, reasoning),
    content: texts.length === 0 && (calls.length > 0 || refused.length > 0) ? null : texts.join(''),
    refusal: refused.length === 0 ? undefined : refused.join(''),
    tool_calls: calls.length === 0 ? undefined : calls,
  });
}

/** Writes a tool call; without arguments it gets an empty object, since clients parse it. */
export function writeToolCall(block: ToolUseBlock): JsonObject {
  const called = { name: block.name, arguments: block.input.trim() === '' ? '{}' : block.input };
  return { id: block.id, type: 'function', function: called };
}
