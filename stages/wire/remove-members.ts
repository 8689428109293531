/** Removes members of a JSON object in place; the rest keeps its bytes. */
import type { ByteSpan } from './json-path.ts';
import { COLON, COMMA, QUOTE, skipSpace, skipString, skipValue } from './json-skip.ts';
import type { SpliceEdit } from './splice.ts';

const NOTHING = Buffer.alloc(0);

interface Member {
  readonly start: number;
  readonly end: number;
  readonly isRemoved: boolean;
}

/**
 * Returns the edits that remove every member named in `names` from the object at `span`, duplicates
 * included.
 */
export function removeMembers(
  bytes: Buffer,
  span: ByteSpan,
  names: ReadonlySet<string>,
): readonly SpliceEdit[] {
  const members = membersOf(bytes, span, names);
  const edits: SpliceEdit[] = [];
  let kept: Member | undefined;
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at]!;
    if (!first.isRemoved) {
      kept = first;
      continue;
    }
    while (members[at + 1]?.isRemoved === true) at += 1;
    const next = members[at + 1];
    // Includes the comma after it, or at the end of the object the one before it.
    const start = next === undefined ? (kept?.end ?? first.start) : first.start;
    edits.push({ start, end: next?.start ?? members[at]!.end, bytes: NOTHING });
  }
  return edits;
}

function membersOf(bytes: Buffer, { start, end }: ByteSpan, names: ReadonlySet<string>): Member[] {
  const members: Member[] = [];
  let at = skipSpace(bytes, start + 1, end);
  while (at < end && bytes[at] === QUOTE) {
    const nameEnd = skipString(bytes, at, end);
    const colon = skipSpace(bytes, nameEnd, end);
    if (nameEnd < 0 || bytes[colon] !== COLON) return members;
    const valueEnd = skipValue(bytes, skipSpace(bytes, colon + 1, end), end, 1);
    if (valueEnd < 0) return members;
    const name: unknown = JSON.parse(bytes.toString('utf8', at, nameEnd));
    members.push({ start: at, end: valueEnd, isRemoved: names.has(String(name)) });
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, end);
  }
  return members;
}
