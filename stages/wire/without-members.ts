/** Takes members out of a JSON object's text, so that every other byte stays as it was written. */
import { skipSpace, skipString, skipValue } from './json-path.ts';

interface Member {
  readonly name: string;
  /** From its name's quote to the byte after its value. */
  readonly start: number;
  readonly end: number;
}

const OPEN_OBJECT = 0x7b;
const COLON = 0x3a;
const COMMA = 0x2c;
const QUOTE = 0x22;

/**
 * `bytes`, an object in valid JSON, without the members that `drop` names, each as often as
 * it occurs; the same buffer if there are none. Throws `bad_request` beyond 128 levels.
 */
export function withoutMembers(bytes: Buffer, drop: (name: string) => boolean): Buffer {
  const members = membersOf(bytes);
  const kept = members.filter(({ name }) => !drop(name));
  if (kept.length === members.length) return bytes;
  const parts: Buffer[] = [bytes.subarray(0, members[0]!.start)];
  let next = 0;
  for (const [index, member] of members.entries()) {
    if (drop(member.name)) continue;
    // What stood between it and its neighbour goes along, be it a comma or an indented line.
    const upTo = ++next === kept.length ? member.end : members[index + 1]!.start;
    parts.push(bytes.subarray(member.start, upTo));
  }
  parts.push(bytes.subarray(members.at(-1)!.end));
  return Buffer.concat(parts);
}

function membersOf(bytes: Buffer): Member[] {
  const members: Member[] = [];
  const limit = bytes.length;
  let at = skipSpace(bytes, 0, limit);
  if (bytes[at] !== OPEN_OBJECT) return members;
  at = skipSpace(bytes, at + 1, limit);
  while (bytes[at] === QUOTE) {
    const start = at;
    const nameEnd = skipString(bytes, start, limit);
    if (nameEnd < 0) return members;
    at = skipSpace(bytes, nameEnd, limit);
    if (bytes[at] !== COLON) return members;
    const end = skipValue(bytes, skipSpace(bytes, at + 1, limit), limit, 1);
    if (end < 0) return members;
    members.push({ name: String(JSON.parse(bytes.toString('utf8', start, nameEnd))), start, end });
    at = skipSpace(bytes, end, limit);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, limit);
  }
  return members;
}
