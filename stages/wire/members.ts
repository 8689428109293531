/** Locates and removes members of a JSON object in its text, without parsing their values. */
import { MAX_DEPTH, OPEN_OBJECT, skipMembers, skipSpace, skipValue } from './json-skip.ts';
import type { ByteSpan } from './json-path.ts';
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
  const open = skipSpace(bytes, 0, limit);
  if (bytes[open] !== OPEN_OBJECT) return undefined;
  const members: Member[] = [];
  const close = skipMembers(bytes, open, limit, (start, nameStart, nameEnd) => {
    const end = skipValue(bytes, start, limit, 1, maxDepth);
    const spelling = bytes.toString('utf8', nameStart, nameEnd);
    members.push({ spelling, nameStart: nameStart - 1, start, end });
    return end;
  });
  return close >= 0 && skipSpace(bytes, close, limit) === limit ? members : undefined;
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
  const spans = members.map(({ nameStart, end }) => ({ start: nameStart, end }));
  return removeListed(spans, (at) => drop(nameOf(members[at]!)));
}

/** Returns the edits that remove those of the members or items at `spans` that `drop` matches. */
export function removeListed(
  spans: readonly ByteSpan[],
  drop: (index: number) => boolean,
): readonly SpliceEdit[] {
  const edits: SpliceEdit[] = [];
  let lastKept: ByteSpan | undefined;
  for (let at = 0; at < spans.length; at += 1) {
    const first = spans[at]!;
    if (!drop(at)) {
      lastKept = first;
      continue;
    }
    while (at + 1 < spans.length && drop(at + 1)) at += 1;
    const next = spans[at + 1];
    // Includes the separator after it, or at the end of the list the one before it.
    const start = next === undefined ? (lastKept?.end ?? first.start) : first.start;
    edits.push({ start, end: next?.start ?? spans[at]!.end, bytes: NOTHING });
  }
  return edits;
}

/** Returns `bytes` without these members; the same buffer if there are none. */
export function withoutMembers(bytes: Buffer, drop: (name: string) => boolean): Buffer {
  return splice(bytes, removeMembers(bytes, drop));
}
