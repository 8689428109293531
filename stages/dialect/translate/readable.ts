/**
 * Blocks of a kind that only their own provider knows, or that is newer than this program. What
 * decides is whether the conversation can do without them: text in them is carried as text; in a
 * tool's result a word stands for what cannot be read; of what the model or its provider wrote the
 * rest is left out. Only what the user says now cannot be missing.
 */
import type { JsonObject, Note, TextBlock } from '../canonical.ts';
import { cannotCarry } from './errors.ts';
import { isObject, wordOf } from '../json-kind.ts';

/** Whose content a block is in: the user's, the model's, instructions, or the result of a tool. */
export type BlockPlace = 'user' | 'assistant' | 'system' | 'result';

/** The members that hold what a person could read, in the order in which it is read. */
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

/** What can be read in a block of any kind, one line a member; empty if nothing can. */
export function readableText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return '';
  const inner = Array.isArray(value) ? value : isObject(value) ? readableMembers(value) : [];
  return inner
    .map((item: unknown) => readableText(item, depth + 1))
    .filter((text) => text !== '')
    .join('\n');
}

/** A plain text, such as that of a page that was fetched, stands among data; other data are none. */
function readableMembers(value: JsonObject): readonly unknown[] {
  if (value.type === 'text' && value.media_type === 'text/plain') return [value.data];
  return READABLE.map((name) => value[name]);
}

/** A block of an unknown kind, where it stands. Throws `unprocessable` for one that the user says and nobody else can read. */
export function readUnknown(
  block: JsonObject,
  place: BlockPlace,
  note: Note,
): TextBlock | undefined {
  const type = wordOf(block.type);
  const text = readableText(block);
  if (text !== '' && (place !== 'user' || isAllText(block))) {
    note(`${type} goes as the text that it holds`);
    return { kind: 'text', text };
  }
  if (place === 'user') throw cannotCarry(`a content block of type ${type}`);
  return place === 'result' ? unreadable(`a block of type ${type}`, note) : leftOut(type, note);
}

/** Members that say nothing by themselves. */
const AROUND = ['type', 'id', 'cache_control', 'citations'];

/** True for a block that has nothing beside its text: of a film with a title the title is the least. */
function isAllText(block: JsonObject): boolean {
  const known: readonly string[] = [...READABLE, ...AROUND];
  return Object.keys(block).every((name) => known.includes(name));
}

/** Stands in a tool's result for what only its provider has. */
export function unreadable(what: string, note: Note): TextBlock {
  note(`${what} in a tool result left out: only its provider has it`);
  return { kind: 'text', text: `[${what} stood here, which only its provider has]` };
}

function leftOut(type: string, note: Note): undefined {
  note(`${type} left out: only its own provider reads it`);
  return undefined;
}
