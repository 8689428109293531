/** Takes members out of a JSON object's text, so that every other byte stays as it was written. */
import { MAX_DEPTH } from './json-skip.ts';
import { membersOf, nameOf } from './members.ts';

/**
 * `bytes`, an object in valid JSON, without the members that `drop` names, each as often as
 * it occurs; the same buffer if there are none. Throws `bad_request` beyond 128 levels.
 */
export function withoutMembers(bytes: Buffer, drop: (name: string) => boolean): Buffer {
  const members = membersOf(bytes, MAX_DEPTH) ?? [];
  const kept = members.filter((member) => !drop(nameOf(member)));
  if (kept.length === members.length) return bytes;
  const parts: Buffer[] = [bytes.subarray(0, members[0]!.nameStart)];
  for (const member of kept) {
    const isLast = member === kept.at(-1);
    // What stood between it and its neighbour goes along, be it a comma or an indented line.
    const upTo = isLast ? member.end : members[members.indexOf(member) + 1]!.nameStart;
    parts.push(bytes.subarray(member.nameStart, upTo));
  }
  parts.push(bytes.subarray(members.at(-1)!.end));
  return Buffer.concat(parts);
}
