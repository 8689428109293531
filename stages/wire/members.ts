/** Locates and removes members of a JSON object in its text, without parsing their values. */
import {
  CLOSE_OBJECT,
  COLON,
  COMMA,
  MAX_DEPTH,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
} from './json-skip.ts';
import { splice } from './splice.ts';
import type { SpliceEdit } from './splice.ts';

const NOTHING = Buffer.alloc(0);

/** Position of a member. */
export interface Member {
  /** Its name as written between the quotes; see `nameOf`. */
  readonly spelling: string;
  /** Offset of the quote that opens its name. */
  readonly nameStart: number;
  /** Offset of the first byte of its value. */
  readonly start: number;
  /** Offset after its value. */
  readonly end: number;
}

/**
 * Returns the members of `bytes` in order; undefined if they are not an object or are cut off. The
 * text is otherwise assumed to be valid JSON. Throws `bad_request` beyond `maxDepth` levels.
 */
export function membersOf(bytes: Buffer, maxDepth = Infinity): Member[] | undefined {
  const limit = bytes.length;
  const members: Member[] = [];
  let at = skipSpace(bytes, 0, limit);
  if (bytes[at] !== OPEN_OBJECT) return undefined;
  at = skipSpace(bytes, at + 1, limit);
  while (bytes[at] === QUOTE) {
    const nameStart = at;
    const nameEnd = skipString(bytes, nameStart, limit);
    if (nameEnd < 0) return undefined;
    at = skipSpace(bytes, nameEnd, limit);
    if (bytes[at] !== COLON) return undefined;
    const start = skipSpace(bytes, at + 1, limit);
    const end = skipValue(bytes, start, limit, 1, maxDepth);
    if (end < 0) return undefined;
    const spelling = bytes.toString('utf8', nameStart + 1, nameEnd - 1);
    members.push({ spelling, nameStart, start, end });
    at = skipSpace(bytes, end, limit);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, limit);
  }
  const isWhole = bytes[at] === CLOSE_OBJECT && skipSpace(bytes, at + 1, limit) === limit;
  return isWhole ? members : undefined;
}

/** Returns a member's name, escapes resolved. */
export function nameOf({ spelling }: Member): string {
  return spelling.includes('\\') ? String(JSON.parse(`"${spelling}"`)) : spelling;
}

/**
 * Returns the edits that remove the members that `drop` matches from `bytes`, an object in valid
 * JSON, duplicates included. Throws `bad_request` beyond 128 levels.
 */
export function removeMembers(
  bytes: Buffer,
  drop: (name: string) => boolean,
): readonly SpliceEdit[] {
  const members = membersOf(bytes, MAX_DEPTH) ?? [];
  const edits: SpliceEdit[] = [];
  let lastKept: Member | undefined;
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at]!;
    if (!drop(nameOf(first))) {
      lastKept = first;
      continue;
    }
    while (members[at + 1] !== undefined && drop(nameOf(members[at + 1]!))) at += 1;
    const next = members[at + 1];
    // Includes the separator after it, or at the end of the object the one before it.
    const start = next === undefined ? (lastKept?.end ?? first.nameStart) : first.nameStart;
    edits.push({ start, end: next?.nameStart ?? members[at]!.end, bytes: NOTHING });
  }
  return edits;
}

/** Returns `bytes` without these members; the same buffer if there are none. */
export function withoutMembers(bytes: Buffer, drop: (name: string) => boolean): Buffer {
  return splice(bytes, removeMembers(bytes, drop));
}
