/**
 * Finds the positions of values in a JSON text without parsing it, so that a request can be edited
 * in place and unknown parts keep their bytes. The text is assumed to be valid JSON: callers that
 * need that checked have parsed it already.
 */
import type { JsonPath } from '../model/block.ts';
import {
  BACKSLASH,
  MAX_DEPTH,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipItems,
  skipMembers,
  skipSpace,
  skipValue,
  tooDeep,
} from './json-skip.ts';

/**
 * A half-open range of bytes: `start` is the first byte of the value, `end` the one after its last.
 */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * One step of the requested paths, merged into a tree so that the text is scanned once for all of
 * them.
 */
interface PathNode {
  readonly members: { readonly name: string; readonly bytes: Buffer; readonly node: PathNode }[];
  /** Absent in most of thousands of nodes: an empty map would be a node's largest cost. */
  items?: Map<number, PathNode>;
  /** Indexes of the requested paths that end here. */
  readonly results: number[];
}

interface Walk {
  readonly bytes: Buffer;
  readonly limit: number;
  readonly spans: (ByteSpan | undefined)[];
  depth: number;
}

/** A search compiled once for frequently used paths. */
export type PathScanner = (
  bytes: Buffer,
  start?: number,
  end?: number,
) => readonly (ByteSpan | undefined)[];

/**
 * Compiles `paths` into a scanner that returns, in their order, the span of each value in
 * `bytes[start, end)`, or undefined if it is absent or cut off. A string matches an object's
 * member, a number an array's item; the empty path is the whole value. Where a member occurs twice
 * the last one wins, as in `JSON.parse`. The scanner throws `bad_request` beyond 128 levels.
 */
export function createPathScanner(paths: readonly JsonPath[]): PathScanner {
  const root = toTree(paths);
  return (bytes, start = 0, end = bytes.length) => {
    const walk: Walk = {
      bytes,
      limit: end,
      spans: paths.map(() => undefined),
      depth: 0,
    };
    walkValue(walk, skipSpace(bytes, start, end), root);
    return walk.spans;
  };
}

/** Returns the spans of `paths` in `bytes`; see `createPathScanner`. */
export function findSpans(
  bytes: Buffer,
  paths: readonly JsonPath[],
): readonly (ByteSpan | undefined)[] {
  return createPathScanner(paths)(bytes);
}

/** Returns the spans of the items if `bytes[from, to)` hold an array; otherwise empty. */
export function findItems(bytes: Buffer, from = 0, to = bytes.length): readonly ByteSpan[] {
  const spans: ByteSpan[] = [];
  const open = skipSpace(bytes, from, to);
  if (bytes[open] !== OPEN_ARRAY) return spans;
  skipItems(bytes, open, to, (start) => {
    const end = skipValue(bytes, start, to, 1);
    if (end >= 0) spans.push({ start, end });
    return end;
  });
  return spans;
}

function toTree(paths: readonly JsonPath[]): PathNode {
  const root = createNode();
  const names = new Map<string, Buffer>();
  for (const [index, path] of paths.entries()) {
    let node = root;
    for (const step of path)
      node = typeof step === 'number' ? itemOf(node, step) : memberOf(node, step, names);
    node.results.push(index);
  }
  return root;
}

function createNode(): PathNode {
  return { members: [], results: [] };
}

function itemOf(parent: PathNode, index: number): PathNode {
  const items = (parent.items ??= new Map<number, PathNode>());
  const known = items.get(index);
  if (known !== undefined) return known;
  const node = createNode();
  items.set(index, node);
  return node;
}

function memberOf(parent: PathNode, name: string, names: Map<string, Buffer>): PathNode {
  const known = parent.members.find((member) => member.name === name);
  if (known !== undefined) return known.node;
  // Hundreds of paths share a few names.
  const bytes = names.get(name) ?? Buffer.from(name);
  names.set(name, bytes);
  const node = createNode();
  parent.members.push({ name, bytes, node });
  return node;
}

/**
 * Scans the value at `at`, recording the spans `node` requests. Returns the index after it, or -1
 * if it is cut off.
 */
function walkValue(walk: Walk, at: number, node: PathNode): number {
  const { bytes, limit } = walk;
  const first = bytes[at];
  const hasMembers = first === OPEN_OBJECT && node.members.length > 0;
  const items = first === OPEN_ARRAY ? node.items : undefined;
  let end: number;
  if (hasMembers || items !== undefined) {
    walk.depth += 1;
    if (walk.depth > MAX_DEPTH) throw tooDeep();
    end = items === undefined ? walkObject(walk, at, node) : walkArray(walk, at, items);
    walk.depth -= 1;
  } else {
    end = skipValue(bytes, at, limit, walk.depth);
  }
  if (end > 0) for (const result of node.results) walk.spans[result] = { start: at, end };
  return end;
}

function walkObject(walk: Walk, open: number, node: PathNode): number {
  const { bytes, limit } = walk;
  return skipMembers(bytes, open, limit, (start, nameStart, nameEnd) => {
    const member = findMember(bytes, nameStart, nameEnd, node);
    if (member === undefined) return skipValue(bytes, start, limit, walk.depth);
    forget(walk, member);
    return walkValue(walk, start, member);
  });
}

function walkArray(walk: Walk, open: number, items: ReadonlyMap<number, PathNode>): number {
  const { bytes, limit } = walk;
  return skipItems(bytes, open, limit, (start, index) => {
    const item = items.get(index);
    return item === undefined
      ? skipValue(bytes, start, limit, walk.depth)
      : walkValue(walk, start, item);
  });
}

/**
 * Drops the spans of an earlier member of the same name, and of everything in it: the last one
 * counts.
 */
function forget(walk: Walk, node: PathNode): void {
  for (const result of node.results) walk.spans[result] = undefined;
  for (const member of node.members) forget(walk, member.node);
  for (const item of node.items?.values() ?? []) forget(walk, item);
}

/** Returns the requested member whose name is in `bytes[start, end)`, escapes resolved. */
function findMember(
  bytes: Buffer,
  start: number,
  end: number,
  node: PathNode,
): PathNode | undefined {
  for (const member of node.members) {
    if (isSame(bytes, start, end, member.bytes)) return member.node;
  }
  // Limited to the name: searching to the end for every name would be quadratic.
  if (!bytes.subarray(start, end).includes(BACKSLASH)) return undefined;
  const name = readName(bytes.toString('utf8', start - 1, end + 1));
  return node.members.find((member) => member.name === name)?.node;
}

function readName(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined; // not JSON, so not a name that anyone could have asked for
  }
}

function isSame(bytes: Buffer, start: number, end: number, expected: Buffer): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i += 1) {
    if (bytes[start + i] !== expected[i]) return false;
  }
  return true;
}
