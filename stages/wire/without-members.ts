/** Removes members from a JSON object's text; every other byte stays as written. */
import { MAX_DEPTH } from './json-skip.ts';
import { membersOf, nameOf } from './members.ts';

/**
 * Returns `bytes`, an object in valid JSON, without the members that `drop` matches, duplicates
 * included; the same buffer if there are none. Throws `bad_request` beyond 128 levels.
 */
export function withoutMembers(bytes: Buffer, drop: (name: string) => boolean): Buffer {
  const members = membersOf(bytes, MAX_DEPTH) ?? [];
  const isKept = members.map((member) => !drop(nameOf(member)));
  if (!isKept.includes(false)) return bytes;
  const last = isKept.lastIndexOf(true);
  const parts: Buffer[] = [bytes.subarray(0, members[0]!.nameStart)];
  for (const [at, member] of members.entries()) {
    if (isKept[at] !== true) continue;
    // The separator to its neighbour is kept with it, be it a comma or an indented line.
    const upTo = at === last ? member.end : members[at + 1]!.nameStart;
    parts.push(bytes.subarray(member.nameStart, upTo));
  }
  parts.push(bytes.subarray(members.at(-1)!.end));
  return Buffer.concat(parts);
}
