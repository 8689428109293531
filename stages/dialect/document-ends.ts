/**
 * A member near the beginning of a JSON object and one near its end, read without parsing what
 * lies between: of an answer that is nearly all of it. Both are members of the object itself. An
 * inner quote is escaped in JSON, so a name in quotes is a name; and what leads up to it is an
 * object once one brace is closed, as what follows it is once one is opened, only where nothing
 * else is open there.
 */
import { isObject, parseJson } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** Where a member is looked for from the beginning, and the most that may follow the other one. */
const LOOKED_AT_BYTES = 2048;
const MAX_TEXT_BYTES = 256;
const BACKSLASH = 0x5c;
const TEXT_VALUE = /^\s*:\s*"[^"\\]*"/;

/** The names of the two members. */
export interface EndMembers {
  /** Its value is a string. */
  readonly first: string;
  /** Its value is an object. */
  readonly last: string;
}

/** Reads both members of a document that ends as one object does; undefined where they stand otherwise. */
export type EndReader = (bytes: Buffer) => JsonObject | undefined;

/** Gives a reader of two members. */
export function createEndReader({ first, last }: EndMembers): EndReader {
  const firstName = Buffer.from(`"${first}"`);
  const lastName = Buffer.from(`"${last}"`);
  return (bytes: Buffer): JsonObject | undefined => {
    const tail = membersFrom(bytes, lastName);
    if (tail === undefined || !isObject(tail[last])) return undefined;
    const head = membersUpTo(bytes, firstName);
    return head && { [first]: head[first], [last]: tail[last] };
  };
}

/** The member that is named so last, and all behind it. */
function membersFrom(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const at = bytes.lastIndexOf(name);
  if (at < 1 || bytes.length - at > LOOKED_AT_BYTES || bytes[at - 1] === BACKSLASH)
    return undefined;
  return objectOf(`{${bytes.toString('utf8', at)}`);
}

/** All before the member that is named so first, and that member. */
function membersUpTo(bytes: Buffer, name: Buffer): JsonObject | undefined {
  const at = bytes.indexOf(name);
  if (at < 1 || at > LOOKED_AT_BYTES || bytes[at - 1] === BACKSLASH) return undefined;
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
