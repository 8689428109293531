/** The contents of a generative request, both ways: parts, function calls and their responses. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  Note,
  ProviderMark,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../canonical.ts';
import { isSvcError } from '../../../engine/error.ts';
import { cannotCarry } from '../translate/errors.ts';
import { exactJson, parseArguments } from '../exact-json.ts';
import { defined, filledString, isObject, objectOf, stringOf } from '../json-kind.ts';
import { apart, readUnknown, unreadable, type BlockPlace } from '../translate/readable.ts';
import { ANY_SIGNATURE } from './any-signature.ts';
import { camelKeys, objectField, objectsField } from './translate-fields.ts';

/**
 * Reads all contents. Calls may come without an id: they get one from their position, and responses
 * find it by name.
 */
export function readContents(contents: unknown, note: Note): CanonicalMessage[] {
  const list = typeof contents === 'string' ? [{ parts: [{ text: contents }] }] : contents;
  const unanswered: { readonly id: string; readonly name: string }[] = [];
  return objectsField({ contents: list }, 'contents').map((content, at) => ({
    role: content.role === 'model' ? ('assistant' as const) : ('user' as const),
    blocks: objectsField(content, 'parts').flatMap((raw, index) => {
      const part = camelKeys(raw);
      const block = readPart(part, {
        at,
        index,
        place: placeOf(content),
        note,
      });
      if (block?.kind === 'toolUse') unanswered.push({ id: block.id, name: block.name });
      if (block?.kind !== 'toolResult') return block ?? [];
      const name = stringOf(objectField(raw, 'functionResponse').name) ?? '';
      return { ...block, toolUseId: takeCallId(unanswered, block.toolUseId, name) };
    }),
  }));
}

/** Returns the id of the call that a response answers, and removes it from the open ones. */
function takeCallId(
  unanswered: { readonly id: string; readonly name: string }[],
  id: string,
  name: string,
): string {
  const at = unanswered.findIndex((call) => (id === '' ? call.name === name : call.id === id));
  if (at < 0 && id === '') throw cannotCarry(`a response of ${name} without a call`);
  return at < 0 ? id : unanswered.splice(at, 1)[0]!.id;
}

function placeOf({ role }: JsonObject): BlockPlace {
  return role === 'model' ? 'assistant' : 'user';
}

interface PartContext {
  /** Index of the content, and of the part in it: they form the id of a call that has none. */
  readonly at: number;
  readonly index: number;
  readonly place: BlockPlace;
  readonly note: Note;
}

function readPart(part: JsonObject, context: PartContext): CanonicalBlock | undefined {
  if (isObject(part.functionCall)) return readCall(part, context);
  if (isObject(part.functionResponse)) return readResponse(part.functionResponse, context.note);
  if (isObject(part.inlineData)) return readInline(camelKeys(part.inlineData));
  if (isObject(part.fileData)) return readFile(camelKeys(part.fileData));
  const text = stringOf(part.text);
  if (text !== undefined) {
    return part.thought === true
      ? { kind: 'thinking', text, provider: 'generative' }
      : { kind: 'text', text };
  }
  const kind = Object.keys(part).find((key) => key !== 'thoughtSignature' && key !== 'thought');
  if (kind === undefined) return undefined;
  const inner = camelKeys(objectField(part, kind));
  const code = filledString(inner.code);
  if (code !== undefined) return apart(`\`\`\`\n${code}\n\`\`\``);
  return readUnknown({ ...inner, type: `part with ${kind}` }, context.place, context.note);
}

function readCall(part: JsonObject, { at, index }: PartContext): ToolUseBlock {
  const call = objectOf(part.functionCall);
  const id = filledString(call.id);
  const mark = filledString(part.thoughtSignature);
  return defined({
    kind: 'toolUse',
    id: id ?? `call_${at}_${index}`,
    name: stringOf(call.name) ?? '',
    input: exactJson(objectOf(call.args)),
    mark: mark === undefined ? undefined : toMark(mark),
    ...(id === undefined && { hasOwnId: false, place: at }),
  });
}

/** Makes a mark of a thought signature, which must be sent back with its call. */
export function toMark(value: string): ProviderMark {
  return { provider: 'generative', value };
}

/**
 * Reads a response. The documented keys `output` and `error` contain the text; any other object is
 * itself the text, as JSON.
 */
function readResponse(response: JsonObject, note: Note): ToolResultBlock {
  const value = objectOf(response.response);
  const keys = Object.keys(value);
  const only = keys.length === 1 ? value[keys[0]!] : undefined;
  const plain = (keys[0] === 'output' || keys[0] === 'error') && typeof only === 'string';
  const text = plain ? only : exactJson(value);
  const media = objectsField(response, 'parts').flatMap((raw) => readResultPart(raw, note));
  return {
    kind: 'toolResult',
    toolUseId: filledString(response.id) ?? '',
    content: [{ kind: 'text', text }, ...media],
    isError: plain && keys[0] === 'error',
  };
}

/** Reads a tool's media, as far as another model can see them. */
function readResultPart(raw: JsonObject, note: Note): (TextBlock | ImageBlock | DocumentBlock)[] {
  try {
    const part = readPart(camelKeys(raw), { at: 0, index: 0, place: 'result', note });
    const isShown = part?.kind === 'image' || part?.kind === 'document' || part?.kind === 'text';
    return isShown ? [part] : [];
  } catch (thrown) {
    if (!isSvcError(thrown)) throw thrown;
    return [unreadable(thrown.message, note)];
  }
}

function readInline(data: JsonObject): ImageBlock | DocumentBlock {
  const mediaType = stringOf(data.mimeType) ?? '';
  const source = { from: 'base64' as const, mediaType, data: stringOf(data.data) ?? '' };
  if (mediaType.startsWith('image/')) return { kind: 'image', source };
  if (mediaType === 'application/pdf' || mediaType.startsWith('text/')) {
    return { kind: 'document', source };
  }
  throw cannotCarry(`inline data of type ${mediaType}`);
}

function readFile(file: JsonObject): ImageBlock | DocumentBlock {
  const url = stringOf(file.fileUri) ?? '';
  const mediaType = stringOf(file.mimeType) ?? '';
  if (!/^https?:/.test(url) || url.includes('generativelanguage.')) {
    throw cannotCarry('a file that is stored at its provider');
  }
  const source = { from: 'url' as const, url, mediaType };
  if (mediaType.startsWith('image/')) return { kind: 'image', source };
  if (mediaType === 'application/pdf') return { kind: 'document', source };
  throw cannotCarry(`a file of type ${mediaType}`);
}

export interface WriteContentOptions {
  /** The tool's name by the id of its call: responses contain the name. */
  readonly names: ReadonlyMap<string, string>;
  /** True for models that refuse a call without its signature. */
  readonly needsSignature: boolean;
}

export function writeContent(message: CanonicalMessage, options: WriteContentOptions): JsonObject {
  const results = message.blocks.filter((block) => block.kind === 'toolResult');
  const rest = message.blocks.filter((block) => block.kind !== 'toolResult');
  const parts = [
    ...results.map((result) => writeResult(result, options)),
    ...results.flatMap(writeResultMedia),
    ...rest.map(writePart),
  ];
  const calls = parts.filter((part) => 'functionCall' in part);
  const [first] = calls;
  // Of parallel calls only the first is signed; a history from another provider has no signatures.
  if (options.needsSignature && first !== undefined && first.thoughtSignature === undefined) {
    parts[parts.indexOf(first)] = { ...first, thoughtSignature: ANY_SIGNATURE };
  }
  // Models that make images require it with each of their own as well.
  if (options.needsSignature && message.role === 'assistant') {
    for (const [at, part] of parts.entries())
      if ('inlineData' in part) parts[at] = { ...part, thoughtSignature: ANY_SIGNATURE };
  }
  return { role: message.role === 'assistant' ? 'model' : 'user', parts };
}

function writeResult(result: ToolResultBlock, options: WriteContentOptions): JsonObject {
  const name = options.names.get(result.toolUseId);
  if (name === undefined) throw cannotCarry('a tool result whose call is not in the conversation');
  const text = result.content
    .map((part) => (part.kind === 'text' ? part.text : textOfDocument(part)))
    .filter((part) => part !== '')
    .join('\n');
  const response = result.isError ? { error: text } : { output: text };
  return { functionResponse: { id: result.toolUseId, name, response } };
}

function textOfDocument(block: TextBlock | ImageBlock | DocumentBlock): string {
  return block.kind === 'document' && block.source.from === 'text' ? block.source.text : '';
}

/**
 * Only the newest models accept media inside a response, so they are placed after it, under the id
 * of its call.
 */
function writeResultMedia(result: ToolResultBlock): JsonObject[] {
  const media = result.content.filter(
    (part) => part.kind === 'image' || (part.kind === 'document' && part.source.from !== 'text'),
  );
  if (media.length === 0) return [];
  const title = { text: `Attached to the result of tool call ${result.toolUseId}:` };
  return [title, ...media.map(writeMedia)];
}

function writePart(block: CanonicalBlock): JsonObject {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { text: block.text };
    case 'thinking':
      return { text: block.text, thought: true };
    case 'image':
    case 'document':
      return writeMedia(block);
    case 'toolUse': {
      const args = parseArguments(block.input);
      if (args === undefined) {
        throw cannotCarry(`the arguments of a call of ${block.name} are not a JSON object`);
      }
      const thoughtSignature = block.mark?.provider === 'generative' ? block.mark.value : undefined;
      return defined({
        functionCall: { id: block.id, name: block.name, args },
        thoughtSignature,
      });
    }
    default:
      throw cannotCarry(`a ${block.kind} block`);
  }
}

const TYPE_OF_ENDING = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
]);

export function writeMedia(block: TextBlock | ImageBlock | DocumentBlock): JsonObject {
  if (block.kind === 'text') return { text: block.text };
  const { source } = block;
  if (source.from === 'text') return { text: source.text };
  if (source.from === 'base64') {
    return { inlineData: { mimeType: source.mediaType, data: source.data } };
  }
  const ending = /\.([a-z]+)(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase() ?? '';
  const mimeType =
    source.mediaType ??
    TYPE_OF_ENDING.get(ending) ??
    (block.kind === 'document' ? 'application/pdf' : undefined);
  if (mimeType === undefined)
    throw cannotCarry('an image by an address that does not say its type');
  return { fileData: { fileUri: source.url, mimeType } };
}
