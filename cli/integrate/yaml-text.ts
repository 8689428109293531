/** Edits YAML settings files: the parser finds positions, and only their text changes. */
import { isMap, isPair, isScalar, parseDocument } from 'yaml';
import type { Document, Pair, Scalar, YAMLMap } from 'yaml';
import { SvcError } from '../../engine/error.ts';
import {
  occupiedPath,
  lineStart,
  newlineOf,
  nextLine,
  splice,
  withFinalNewline,
} from './text-format.ts';
import type { KeyPath, TextFormat } from './text-format.ts';

export const yamlText: TextFormat = {
  find(text, path) {
    const node = parse(text).getIn(path, true);
    if (node === undefined) return undefined;
    const range = rangeOf(node);
    if (!isScalar(node) || range === undefined) return { value: node, raw: '' };
    return { value: node.value, raw: text.slice(range[0], range[1]) };
  },
  put(text, path, raw) {
    const document = parse(text);
    const node = document.getIn(path, true);
    if (node !== undefined) {
      const range = rangeOf(node);
      if (!isScalar(node) || range === undefined || isBlock(node)) throw occupiedPath(path);
      return splice(text, range[0], range[1], range[0] === range[1] ? ` ${raw}` : raw);
    }
    const above = path.slice(0, -1);
    const parent = path.length === 1 ? document.contents : document.getIn(above, true);
    const pair = `${path.at(-1)}: ${raw}`;
    if (isMap(parent)) return insert(text, parent, pair);
    if (path.length === 1) {
      if (parent !== null) throw occupiedPath(above);
      return `${withFinalNewline(text)}${pair}${newlineOf(text)}`;
    }
    if (parent === undefined) {
      if (path.length === 2 && !isFlow(document.contents))
        return append(text, document.contents, above, pair);
      return yamlText.put(text, above, `{ ${pair} }`);
    }
    if (!isScalar(parent) || parent.value !== null) throw occupiedPath(above);
    return intoEmpty(text, parent, above, pair);
  },
  remove(text, path) {
    const document = parse(text);
    const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
    if (!isMap(parent)) return text;
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
    const start = rangeOf(pair?.key)?.[0];
    const end = rangeOf(pair?.value)?.[1];
    if (start === undefined || end === undefined) return text;
    if (parent.flow === true) return withoutFlowPair(text, parent, start, end);
    if (isBlank(text.slice(lineStart(text, start), start)))
      return splice(text, lineStart(text, start), nextLine(text, end), '');
    // After a list dash: the next pair moves up in its place.
    const next = parent.items.map(({ key }) => rangeOf(key)?.[0] ?? 0).find((at) => at > start);
    if (next === undefined) throw occupiedPath(path);
    return splice(text, start, next, '');
  },
  has: (text, path) => parse(text).hasIn(path),
  isEmpty(text, path) {
    const node = parse(text).getIn(path, true);
    return isScalar(node) ? node.value === null : isMap(node) && node.items.length === 0;
  },
  encode: (value) => JSON.stringify(value),
};

/**
 * Parses the document.
 *
 * @throws SvcError `config` for invalid YAML.
 */
export function parse(text: string): Document.Parsed {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault === undefined) return document;
  throw new SvcError('config', `it is not YAML: ${fault.message.split('\n')[0]}`);
}

/** Appends a new section with one pair, indented like the others. */
function append(text: string, root: unknown, [section]: KeyPath, pair: string): string {
  const first = isMap(root) ? rangeOf(root.items[0]?.key)?.[0] : undefined;
  if (root !== null && first === undefined) throw occupiedPath([section ?? '']);
  const margin = first === undefined ? '' : ' '.repeat(first - lineStart(text, first));
  const newline = newlineOf(text);
  return `${withFinalNewline(text)}${margin}${section}:${newline}${margin}  ${pair}${newline}`;
}

/** Inserts the first pair of a section that contains only comments. */
function intoEmpty(text: string, empty: Scalar, path: KeyPath, pair: string): string {
  const range = rangeOf(empty);
  if (range === undefined) throw occupiedPath(path);
  if (range[0] !== range[1]) return splice(text, range[0], range[1], `{ ${pair} }`);
  const start = lineStart(text, range[0]);
  const margin = /^ */.exec(text.slice(start))?.[0] ?? '';
  // The line has another pair: the section is in braces or in a list.
  if (
    !/^ *[^\s:{}[\],-][^:{}[\],]*:[ \t]*(?:#.*)?\r?$/.test(
      text.slice(start, nextLine(text, start)).replace(/\n$/, ''),
    )
  )
    return splice(text, range[0], range[1], ` { ${pair} }`);
  const at = nextLine(text, range[0]);
  return `${withFinalNewline(text.slice(0, at))}${margin}  ${pair}${newlineOf(text)}${text.slice(at)}`;
}

function isFlow(node: unknown): boolean {
  return isMap(node) && node.flow === true;
}

/** Adds a pair after the last one of a single-line map. */
function insert(text: string, map: YAMLMap, pair: string): string {
  const { items } = map as YAMLMap & { readonly items: Pair[] };
  const first = rangeOf(items[0]?.key)?.[0];
  const range = rangeOf(map);
  if (first === undefined || range === undefined) {
    // A map without pairs can only be `{}`, possibly with comments.
    if (range === undefined) throw occupiedPath([pair]);
    const inside = text.slice(range[0] + 1, range[1] - 1);
    if (isBlank(inside)) return splice(text, range[0], range[1], `{ ${pair} }`);
    return splice(text, range[0] + 1, range[0] + 1, ` ${pair}`);
  }
  if (map.flow === true) return splice(text, first, first, `${pair}, `);
  const indent = ' '.repeat(first - lineStart(text, first));
  const plain = items.findLast(
    (one) =>
      isPair(one) && isScalar(one.value) && !isBlock(one.value) && rangeOf(one.value) !== undefined,
  );
  const end = rangeOf(plain?.value)?.[1];
  const newline = newlineOf(text);
  if (end === undefined) return splice(text, first, first, pair + newline + indent);
  const at = nextLine(text, end);
  return withFinalNewline(text.slice(0, at)) + indent + pair + newline + text.slice(at);
}

/** Returns a flow map without the pair at `[start, end)` and its comma; comments are kept. */
function withoutFlowPair(text: string, map: YAMLMap, start: number, end: number): string {
  const [open, close] = rangeOf(map) ?? [start, end];
  const comma = commaAfter(text, end, close);
  if (comma === undefined) {
    const before = map.items
      .map(({ value }) => rangeOf(value)?.[1] ?? 0)
      .findLast((at) => at <= start && at > open);
    const from = before === undefined ? undefined : commaAfter(text, before, start);
    const rest = splice(text, ...blanksBefore(text, start, end), '');
    if (from !== undefined) return splice(rest, from, from + 1, '');
    // After the last pair, an empty single-line map has nothing in its braces.
    const left = rest.slice(open + 1, close - (text.length - rest.length) - 1);
    return isBlank(left) ? splice(rest, open + 1, open + 1 + left.length, '') : rest;
  }
  const afterComma = text.slice(end, comma);
  const blanks = /^[ \t]*/.exec(text.slice(comma + 1))?.[0].length ?? 0;
  return isBlank(afterComma)
    ? splice(text, start, comma + 1 + blanks, '')
    : splice(text, start, comma + 1, afterComma);
}

/**
 * Returns the pair's span including the blanks before it, or its whole line if it is alone there.
 */
function blanksBefore(text: string, start: number, end: number): [number, number] {
  const line = lineStart(text, start);
  const blanks = /[ \t]*$/.exec(text.slice(line, start))?.[0].length ?? 0;
  const isWholeLine = blanks === start - line && isBlank(text.slice(end, nextLine(text, end)));
  return isWholeLine && line > 0 ? [line - 1, nextLine(text, end) - 1] : [start - blanks, end];
}

/** Returns the comma between `from` and `to` that is not in a comment. */
function commaAfter(text: string, from: number, to: number): number | undefined {
  const between = text.slice(from, to);
  const masked = between.replaceAll(/(?<!\S)#[^\n]*/g, (comment) => ' '.repeat(comment.length));
  const found = /^\s*,/.exec(masked);
  return found === null ? undefined : from + found[0].length - 1;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function isBlock(node: Scalar): boolean {
  return node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL';
}

function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  return (node.range as [number, number, number] | null | undefined) ?? undefined;
}
