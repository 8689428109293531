/** The content blocks of the messages dialect, both ways. */
import type {
  CanonicalBlock,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  MediaSource,
  TextBlock,
  ToolResultBlock,
} from '../canonical.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { unreadable, type BlockPlace } from '../translate/readable.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { cannotCarry } from '../translate/errors.ts';
import { exactJson, parseArguments } from '../exact-json.ts';
import { defined, filledString, objectOf, objectsOf, stringOf, wordOf } from '../json-kind.ts';
import { readOwnBlock } from './translate-own-blocks.ts';

/**
 * Reads the blocks of a `content`, which may be a plain string. Throws for a block that the
 * conversation requires and no other dialect has.
 */
export function readMessagesBlocks(
  content: unknown,
  context: Pick<ReadRequestContext, 'note'>,
  place: BlockPlace,
): CanonicalBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return objectsOf(content).flatMap((block) => readBlock(block, context, place) ?? []);
}

function readBlock(
  block: JsonObject,
  context: Pick<ReadRequestContext, 'note'>,
  place: BlockPlace,
): CanonicalBlock | CanonicalBlock[] | undefined {
  switch (block.type) {
    case 'text':
      if (objectsOf(block.citations).length > 0) {
        context.note(droppedParts.citations);
      }
      return { kind: 'text', text: stringOf(block.text) ?? '' };
    case 'image':
      return { kind: 'image', source: readSource(objectOf(block.source)) };
    case 'document':
      return readDocument(block, context);
    case 'tool_use':
      return {
        kind: 'toolUse',
        id: stringOf(block.id) ?? '',
        name: stringOf(block.name) ?? '',
        input: exactJson(objectOf(block.input)),
      };
    case 'tool_result':
      return readToolResult(block, context);
    case 'thinking':
      return defined({
        kind: 'thinking',
        text: stringOf(block.thinking) ?? '',
        signature: filledString(block.signature),
        provider: 'messages',
      });
    case 'redacted_thinking':
      return {
        kind: 'redactedThinking',
        data: stringOf(block.data) ?? '',
        provider: 'messages',
      };
    default:
      return readOwnBlock(block, place, context);
  }
}

function readSource(source: JsonObject): MediaSource {
  if (source.type === 'base64') {
    return {
      from: 'base64',
      mediaType: stringOf(source.media_type) ?? '',
      data: stringOf(source.data) ?? '',
    };
  }
  if (source.type === 'url') return { from: 'url', url: stringOf(source.url) ?? '' };
  throw cannotCarry(`a source of type ${wordOf(source.type)}, which is stored at its provider`);
}

/**
 * A document's description is placed before it, images in it after it; also the title of a text,
 * which goes without a file name.
 */
function readDocument(
  block: JsonObject,
  context: Pick<ReadRequestContext, 'note'>,
): CanonicalBlock[] {
  if (objectOf(block.citations).enabled === true) context.note(droppedParts.requestedCitations);
  const source = objectOf(block.source);
  const inside =
    source.type === 'content' ? readMessagesBlocks(source.content, context, 'user') : [];
  const title = filledString(block.title);
  const document: DocumentBlock = defined({
    kind: 'document',
    source: readDocumentSource(source, inside),
    title,
  });
  const about = [
    document.source.from === 'text' ? title : undefined,
    filledString(block.context),
  ].filter((text) => text !== undefined);
  return [
    ...(about.length === 0 ? [] : [{ kind: 'text', text: about.join('\n') } as const]),
    document,
    ...inside.filter((part) => part.kind !== 'text'),
  ];
}

function readDocumentSource(
  source: JsonObject,
  inside: readonly CanonicalBlock[],
): DocumentBlock['source'] {
  if (source.type === 'text') return { from: 'text', text: stringOf(source.data) ?? '' };
  if (source.type !== 'content') return readSource(source);
  const texts = inside.flatMap((part) => (part.kind === 'text' ? part.text : []));
  return { from: 'text', text: texts.join('\n') };
}

function readToolResult(
  block: JsonObject,
  context: Pick<ReadRequestContext, 'note'>,
): ToolResultBlock {
  const content =
    typeof block.content === 'string'
      ? readMessagesBlocks(block.content, context, 'result')
      : objectsOf(block.content).flatMap((part) => readResultPart(part, context));
  return {
    kind: 'toolResult',
    toolUseId: stringOf(block.tool_use_id) ?? '',
    content: content.flatMap((part) =>
      part.kind === 'text' || part.kind === 'image' || part.kind === 'document' ? part : [],
    ),
    isError: block.is_error === true,
  };
}

/**
 * A file stored at its provider is something a tool has shown; the conversation continues without
 * it.
 */
function readResultPart(
  part: JsonObject,
  context: Pick<ReadRequestContext, 'note'>,
): CanonicalBlock[] {
  const isStored = objectOf(part.source).type === 'file';
  if (isStored) return [unreadable(`a file (${wordOf(part.type)})`, context.note)];
  return readMessagesBlocks([part], context, 'result');
}

/**
 * Writes one canonical block in the messages dialect. Throws for arguments that are not a JSON
 * object.
 */
export function writeMessagesBlock(block: CanonicalBlock): JsonObject {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', source: writeSource(block.source) };
    case 'document':
      return writeDocument(block);
    case 'toolUse': {
      const input = parseArguments(block.input);
      if (input === undefined) {
        throw cannotCarry(`the arguments of a call of ${block.name} are not a JSON object`);
      }
      return { type: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'toolResult':
      return defined({
        type: 'tool_result',
        tool_use_id: block.toolUseId,
        content: writeResultContent(block.content),
        is_error: block.isError ? true : undefined,
      });
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: block.signature ?? '' };
    default:
      return { type: 'redacted_thinking', data: block.data };
  }
}

/**
 * A single text is sent as a plain string, which every messages provider accepts. Empty texts are
 * refused by the API.
 */
function writeResultContent(
  content: readonly (TextBlock | ImageBlock | DocumentBlock)[],
): string | JsonObject[] {
  const filled = content.filter((part) => part.kind !== 'text' || part.text !== '');
  const [first] = filled;
  if (first === undefined) return '';
  if (filled.length === 1 && first.kind === 'text') return first.text;
  return filled.map(writeMessagesBlock);
}

function writeSource(source: MediaSource): JsonObject {
  return source.from === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data };
}

const DOCUMENT_TYPES = new Set(['application/pdf', 'text/plain']);

function writeDocument(block: DocumentBlock): JsonObject {
  const { source } = block;
  if (source.from === 'text') {
    return defined({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: source.text },
      title: block.title,
    });
  }
  if (source.from === 'base64' && !DOCUMENT_TYPES.has(source.mediaType)) {
    throw cannotCarry(`a document of type ${source.mediaType}`);
  }
  if (source.from === 'base64' && source.mediaType === 'text/plain') {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return writeDocument({ ...block, source: { from: 'text', text } });
  }
  return defined({ type: 'document', source: writeSource(source), title: block.title });
}
