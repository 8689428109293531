/**
 * Blocks of a kind that only their own provider knows, or that is newer than this program. The
 * question is whether the conversation can do without them: text in them is carried as text; in a
 * tool result a placeholder replaces unreadable content; what the model or its provider wrote is
 * otherwise left out. Only the current user input cannot be dropped.
 */
import type { JsonObject, Note, TextBlock } from '../canonical.ts';
import { cannotCarry } from './errors.ts';
import { isObject, wordOf } from '../json-kind.ts';

/** Which content a block is in: the user's, the model's, instructions, or the result of a tool. */
export type BlockPlace = 'user' | 'assistant' | 'system' | 'result';

/** The members that a person could read, in reading order. */
const READABLE = [
  'title',
  'url',
  'source',
  'text',
  'summary',
  'content',
  'code',
  'output',
  'outputs',
  'logs',
  'stdout',
  'stderr',
  'results',
] as const;

const MAX_DEPTH = 6;

/** Returns what can be read in a block of any kind, one line per member; empty if nothing can. */
export function readableText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return '';
  const inner = Array.isArray(value) ? value : isObject(value) ? readableMembers(value) : [];
  return inner
    .map((item: unknown) => readableText(item, depth + 1))
    .filter((text) => text !== '')
    .join('\n');
}

/** Plain text, such as that of a fetched page, is in `data`; any other `data` is not text. */
function readableMembers(value: JsonObject): readonly unknown[] {
  if (value.type === 'text' && value.media_type === 'text/plain') return [value.data];
  return READABLE.map((name) => value[name]);
}

/**
 * Reads a block of an unknown kind. Throws `unprocessable` for user input that no other provider
 * can read.
 */
export function readUnknown(
  block: JsonObject,
  place: BlockPlace,
  note: Note,
): TextBlock | undefined {
  const type = wordOf(block.type);
  const text = readableText(block);
  if (text !== '' && (place !== 'user' || isAllText(block))) {
    note(`${type} is sent as the text it contains`);
    return place === 'assistant' ? apart(text) : { kind: 'text', text };
  }
  if (place === 'user') throw cannotCarry(`a content block of type ${type}`);
  return place === 'result' ? unreadable(`a block of type ${type}`, note) : leftOut(type, note);
}

/**
 * Returns a text of the model's turn that is not part of its prose. Adjacent texts of a turn are
 * joined without a separator, since some providers cut sentences at citations.
 */
export function apart(text: string): TextBlock {
  return { kind: 'text', text: `\n${text}\n` };
}

/** Members that describe a block and are not content. */
const STRUCTURAL = ['type', 'id', 'cache_control', 'citations'];

/**
 * Returns true for a block with nothing besides its text: a video's title, for example, is not its
 * content.
 */
function isAllText(block: JsonObject): boolean {
  const known: readonly string[] = [...READABLE, ...STRUCTURAL];
  return Object.keys(block).every((name) => known.includes(name));
}

/** Returns the placeholder in a tool result for content that only its provider has. */
export function unreadable(what: string, note: Note): TextBlock {
  note(`${what} in a tool result left out: only its provider has it`);
  return { kind: 'text', text: `[${what} stood here, which only its provider has]` };
}

function leftOut(type: string, note: Note): undefined {
  note(`${type} left out: only its own provider reads it`);
  return undefined;
}
