/**
 * A member near the beginning of a JSON object and one near its end, read without parsing what
 * lies between, which is nearly all of an answer. Both are members of the object itself and of
 * nothing inside it: with one brace closed behind the first, and one opened before the last, what
 * was cut out must be JSON. That holds for a document that is whole and valid. One that was cut
 * short can end where an inner object ends, so whoever reads has to know that it was not.
 */
import { isObject, parseJson } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** So near to its end of the document each member has to stand. */
const NEAR_BYTES = 2048;
/** Most of what the first one may hold. */
const MAX_TEXT_BYTES = 256;
const BACKSLASH = 0x5c;
const TEXT_VALUE = /^\s*:\s*"[^"\\]*"/;

/** The names of the two members. */
export interface EndMembers {
  /** Its value is a string. */
  readonly first: string;
  /** Its value is an object. */
  readonly last: string;
  /** A third that a document may have near either of them; where it has it elsewhere, nothing is read. */
  readonly near?: string;
}

/** Reads both members of a whole document; undefined where they stand otherwise. */
export type EndReader = (bytes: Buffer) => JsonObject | undefined;

/** Gives a reader of two members. */
export function createEndReader({ first, last, near }: EndMembers): EndReader {
  const firstName = Buffer.from(`"${first}"`);
  const lastName = Buffer.from(`"${last}"`);
  const nearName = near === undefined ? undefined : Buffer.from(`"${near}"`);
  return (bytes: Buffer): JsonObject | undefined => {
    const tail = membersFrom(bytes, lastName);
    if (tail === undefined || !isObject(tail[last])) return undefined;
    const start = membersUpTo(bytes, firstName);
    if (start === undefined) return undefined;
    // Of two with one name the later one counts, as it does for every parser.
    const ends = { [first]: tail[first] ?? start[first], [last]: tail[last] };
    if (near === undefined || nearName === undefined) return ends;
    const found = tail[near] ?? start[near];
    if (found !== undefined) return { ...ends, [near]: found };
    if (!bytes.includes(nearName)) return ends;
    // Shortly before the last one: what follows it up to the end of the object holds that one, too.
    const wider = membersFrom(bytes, nearName);
    return wider !== undefined && isObject(wider[last])
      ? { ...ends, [near]: wider[near] }
      : undefined;
  };
}

/** The member that is named so last, and all behind it. */
function membersFrom(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const end = bytes.subarray(-NEAR_BYTES);
  const at = end.lastIndexOf(name);
  if (at < 1 || end[at - 1] === BACKSLASH) return undefined;
  return objectOf(`{${end.toString('utf8', at)}`);
}

/** All before the member that is named so first, and that member. */
function membersUpTo(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const at = bytes.subarray(0, NEAR_BYTES).indexOf(name);
  if (at < 1 || bytes[at - 1] === BACKSLASH) return undefined;
  const behind = at + name.length;
  const value = TEXT_VALUE.exec(bytes.toString('latin1', behind, behind + MAX_TEXT_BYTES));
  return value === null
    ? undefined
    : objectOf(`${bytes.toString('utf8', 0, behind + value[0].length)}}`);
}

function objectOf(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
