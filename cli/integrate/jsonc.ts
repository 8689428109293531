/** Edits JSON settings files, with or without comments. */
import { scanJson } from './jsonc-scan.ts';
import type { JsonMember, JsonNode } from './jsonc-scan.ts';
import { occupiedPath, lineStart, newlineOf, nextLine, splice } from './text-format.ts';
import type { KeyPath, TextFormat } from './text-format.ts';

export const jsonc: TextFormat = {
  find(text, path) {
    const node = text.trim() === '' ? undefined : nodeAt(scanJson(text), path);
    return node && { value: node.value, raw: text.slice(node.start, node.end) };
  },
  put(text, path, raw) {
    const filled = text.trim() === '' ? '{}\n' : text;
    const root = scanJson(filled);
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const node = nodeAt(root, path.slice(0, depth));
      if (node === undefined) continue;
      if (depth === path.length) {
        if (node.members !== undefined || node.items !== undefined) throw occupiedPath(path);
        return splice(filled, node.start, node.end, raw);
      }
      if (node.members === undefined) throw occupiedPath(path.slice(0, depth));
      return insert(filled, node, node.members, path.slice(depth), raw);
    }
    throw occupiedPath(path);
  },
  remove(text, path) {
    const parent = nodeAt(scanJson(text), path.slice(0, -1));
    const members = parent?.members ?? [];
    const at = members.findLastIndex(({ key }) => key === path.at(-1));
    return at < 0 ? text : removeMember(text, members, at);
  },
  has: (text, path) => text.trim() !== '' && nodeAt(scanJson(text), path) !== undefined,
  isEmpty(text, path) {
    return text.trim() !== '' && nodeAt(scanJson(text), path)?.members?.length === 0;
  },
  encode: (value) => JSON.stringify(value),
};

/**
 * Returns the whole parsed text.
 *
 * @throws SvcError `config` for invalid JSON.
 */
export function plainJson(text: string): unknown {
  return plainOf(scanJson(text));
}

function plainOf({ value, members, items }: JsonNode): unknown {
  if (items !== undefined) return items.map(plainOf);
  if (members === undefined) return value;
  return Object.fromEntries(members.map(({ key, node }) => [key, plainOf(node)]));
}

function nodeAt(root: JsonNode, path: KeyPath): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const part of path) {
    // Of two equal keys the later one wins.
    if (typeof part === 'number') node = node?.items?.[part];
    else node = node?.members?.findLast(({ key }) => key === part)?.node;
  }
  return node;
}

/** Adds a member after the last one of an object, in the object's own layout. */
function insert(
  text: string,
  object: JsonNode,
  members: readonly JsonMember[],
  path: KeyPath,
  raw: string,
): string {
  const newline = newlineOf(text);
  const outer = /^[ \t]*/.exec(text.slice(lineStart(text, object.start)))?.[0] ?? '';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const last = members.at(-1);
  if (last === undefined) {
    const inner = outer + unit;
    const body = nested(path, raw, inner, unit, newline);
    // An empty object may contain a comment.
    const within = text.slice(object.start + 1, object.end - 1).trimEnd();
    const opened = `{${within}${newline}${inner}${body}${newline}${outer}}`;
    return splice(text, object.start, object.end, opened);
  }
  const hasComma = last.end > last.node.end;
  const separated = hasComma ? text : splice(text, last.node.end, last.node.end, ',');
  const from = hasComma ? last.end : last.node.end + 1;
  if (!text.slice(object.start, object.end).includes('\n')) {
    const body = nested(path, raw, '', '', '').replaceAll('\n', '');
    return splice(separated, from, from, ` ${body}`);
  }
  const indent = /^[ \t]*/.exec(text.slice(lineStart(text, last.start)))?.[0] ?? outer + unit;
  const body = nested(path, raw, indent, unit, newline) + (hasComma ? ',' : '');
  const at =
    from +
    (/^(?:[ \t]|\/\*[^\n]*?\*\/)*(?:\/\/[^\r\n]*)?/.exec(separated.slice(from))?.[0].length ?? 0);
  return splice(separated, at, at, newline + indent + body);
}

/** Formats `"a": { "b": raw }` on separate lines. */
function nested(path: KeyPath, raw: string, indent: string, unit: string, newline: string): string {
  const [first, ...rest] = path;
  const key = JSON.stringify(String(first));
  if (rest.length === 0) return `${key}: ${raw}`;
  const inner = indent + unit;
  const body = nested(rest, raw, inner, unit, newline);
  return newline === ''
    ? `${key}: { ${body} }`
    : `${key}: {${newline}${inner}${body}${newline}${indent}}`;
}

function removeMember(text: string, members: readonly JsonMember[], at: number): string {
  const member = members[at]!;
  const before = members[at - 1];
  const hasComma = member.end > member.node.end;
  const isAlone =
    text.slice(lineStart(text, member.start), member.start).trim() === '' &&
    /^[ \t]*\r?\n/.test(text.slice(member.end));
  const start = isAlone ? lineStart(text, member.start) : member.start;
  const end = isAlone
    ? nextLine(text, member.end)
    : member.end + (/^[ \t]*/.exec(text.slice(member.end))?.[0].length ?? 0);
  const without = splice(text, start, end, '');
  if (hasComma || before === undefined || before.end === before.node.end) return without;
  // Otherwise the comma before the last member would remain.
  return splice(without, before.end - 1, before.end, '');
}
