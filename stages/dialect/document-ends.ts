/**
 * Reads a member near the beginning of a JSON object and one near its end, without parsing what is
 * between, which is nearly all of an answer. Both must be members of the object itself: with one
 * brace closed after the first, and one opened before the last, the extracted parts must be JSON.
 * That holds for a whole and valid document. A truncated one can end where an inner object ends, so
 * the caller has to know that it is whole.
 */
import { isObject, parseJson } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** How close to its end of the document each member has to be. */
const NEAR_BYTES = 2048;
/** Maximum length of the first one's value. */
const MAX_TEXT_BYTES = 256;
const BACKSLASH = 0x5c;
const TEXT_VALUE = /^\s*:\s*"[^"\\]*"/;

/** The names of the two members. */
export interface EndMembers {
  /** Its value is a string. */
  readonly first: string;
  /** Its value is an object. */
  readonly last: string;
  /**
   * A third member that a document may have near either of them; if it is elsewhere, nothing is
   * read.
   */
  readonly near?: string;
}

/** Reads both members of a whole document; undefined if they are not at its ends. */
export type EndReader = (bytes: Buffer) => JsonObject | undefined;

/** Creates a reader of two members. */
export function createEndReader({ first, last, near }: EndMembers): EndReader {
  const firstName = Buffer.from(`"${first}"`);
  const lastName = Buffer.from(`"${last}"`);
  const nearName = near === undefined ? undefined : Buffer.from(`"${near}"`);
  return (bytes: Buffer): JsonObject | undefined => {
    const tail = membersFrom(bytes, lastName);
    if (tail === undefined || !isObject(tail[last])) return undefined;
    const start = membersUpTo(bytes, firstName);
    if (start === undefined) return undefined;
    // Of duplicates the later one counts, as for every parser.
    const ends = { [first]: tail[first] ?? start[first], [last]: tail[last] };
    if (near === undefined || nearName === undefined) return ends;
    const nearValue = tail[near] ?? start[near];
    if (nearValue !== undefined) return { ...ends, [near]: nearValue };
    if (!bytes.includes(nearName)) return ends;
    // Shortly before the last one: the text from there to the end of the object contains both.
    const wider = membersFrom(bytes, nearName);
    return wider !== undefined && isObject(wider[last])
      ? { ...ends, [near]: wider[near] }
      : undefined;
  };
}

/** Returns the last member of that name, and everything after it. */
function membersFrom(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const end = bytes.subarray(-NEAR_BYTES);
  const at = end.lastIndexOf(name);
  if (at < 1 || end[at - 1] === BACKSLASH) return undefined;
  return objectOf(`{${end.toString('utf8', at)}`);
}

/** Returns everything before the first member of that name, and that member. */
function membersUpTo(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const at = bytes.subarray(0, NEAR_BYTES).indexOf(name);
  if (at < 1 || bytes[at - 1] === BACKSLASH) return undefined;
  const valueStart = at + name.length;
  const value = TEXT_VALUE.exec(bytes.toString('latin1', valueStart, valueStart + MAX_TEXT_BYTES));
  return value === null
    ? undefined
    : objectOf(`${bytes.toString('utf8', 0, valueStart + value[0].length)}}`);
}

function objectOf(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
