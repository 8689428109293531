/**
 * Applies a request's edits to its original bytes, in one place and in one copy.
 */
import { SvcError } from '../../engine/index.ts';
import { findSpans } from './json-path.ts';
import { QUOTE } from './json-skip.ts';
import type { ByteSpan } from './json-path.ts';
import { isEdited, textOf } from '../model/request.ts';
import type { NewValue, ProxyRequest } from '../model/request.ts';
import { removeMembers } from './members.ts';
import { insertMember, splice } from './splice.ts';
import type { SpliceEdit } from './splice.ts';

/**
 * The body sent upstream. `encoded` is true if the bytes still have the client's
 * `Content-Encoding`.
 */
export interface Rendered {
  readonly bytes: Buffer;
  readonly encoded: boolean;
}

/**
 * Returns the bytes to send upstream: the ones received, or the decoded ones with every edited
 * value spliced in place. All other bytes stay as they were.
 */
export function render(request: ProxyRequest): Rendered {
  const { body } = request.original;
  if (!isEdited(request)) return { bytes: body.wireBytes, encoded: true };
  const pathEdits = editedPaths(request);
  const { markers } = request.edits;
  const places = [...pathEdits.map((edit) => edit.path), ...markers];
  const own = markers.map((path) => [...path, 'cache_control']);
  const spans = findSpans(body.bytes, [...places, ...own]);
  if (spans.slice(0, places.length).includes(undefined))
    throw new SvcError('internal', 'An edited value has no place in the body');
  const edits: SpliceEdit[] = pathEdits.map((edit, index) => ({
    ...spans[index]!,
    bytes: Buffer.from(edit.json),
  }));
  for (const at of markers.keys()) {
    // Some clients write every possible member, with null for those they do not set.
    const none = spans[places.length + at];
    if (none !== undefined) edits.push({ ...none, bytes: Buffer.from(MARKER) });
    else edits.push(...markerAt(body.bytes, spans[pathEdits.length + at]!));
  }
  edits.push(...changedMembers(request));
  return { bytes: splice(body.bytes, edits), encoded: false };
}

/** Asks a provider to cache the prefix that ends with the object containing it. */
export const CACHE_MARKER = Object.freeze({ type: 'ephemeral' });
const MARKER = JSON.stringify(CACHE_MARKER);

/**
 * Returns edits that add the marker to the object at `span`, or wrap the string there, which stays
 * editable itself.
 */
function markerAt(bytes: Buffer, span: ByteSpan): readonly SpliceEdit[] {
  if (bytes[span.start] !== QUOTE) return [insertMember(bytes, span, 'cache_control', MARKER)];
  const { start, end } = span;
  return [
    { start, end: start, bytes: Buffer.from('[{"type":"text","text":') },
    { start: end, end, bytes: Buffer.from(`,"cache_control":${MARKER}}]`) },
  ];
}

function hasMember(json: unknown, name: string): boolean {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name);
}

function editedPaths(request: ProxyRequest): NewValue[] {
  const { original, edits } = request;
  const blocks = original.blocks();
  const list: NewValue[] = [...edits.values];
  const byMessage = new Map(edits.appended);
  for (const [index, text] of edits.texts) {
    const path = blocks[index]?.path;
    if (path === undefined) continue;
    list.push({ path, json: JSON.stringify(text) });
  }
  for (const [name, value] of edits.params) {
    if (value !== undefined && hasMember(original.json, name))
      list.push({ path: [name], json: JSON.stringify(value) });
  }
  for (const [message, text] of byMessage) list.push(appendEdit(request, message, text, list));
  return list;
}

/**
 * Returns the edit that appends to the last text of a message; if that text is replaced too, the
 * two become one edit.
 */
function appendEdit(
  request: ProxyRequest,
  message: number,
  text: string,
  list: NewValue[],
): NewValue {
  const tail = request.original
    .blocks()
    .findLast((block) => block.message === message && block.kind === 'text' && block.path);
  if (tail?.path === undefined) {
    throw new SvcError('internal', `Message ${message} has no text to append to`);
  }
  const replaced = list.findIndex((edit) => edit.path === tail.path);
  if (replaced >= 0) list.splice(replaced, 1);
  return { path: tail.path, json: JSON.stringify(textOf(request, tail) + text) };
}

/** Returns the edits that add and remove members of the body. */
function changedMembers(request: ProxyRequest): readonly SpliceEdit[] {
  const { original, edits } = request;
  const { bytes } = original.body;
  const isNew = ([name, value]: readonly [string, unknown]): boolean =>
    value !== undefined && !hasMember(original.json, name);
  const isGone = ([name, value]: readonly [string, unknown]): boolean =>
    value === undefined && hasMember(original.json, name);
  const added = [...edits.params].filter(isNew);
  const removed = new Set([...edits.params].filter(isGone).map(([name]) => name));
  if (added.length === 0 && removed.size === 0) return [];
  const root = findSpans(bytes, [[]])[0];
  if (root === undefined) throw new SvcError('internal', 'The body is not an object');
  return [
    ...removeMembers(bytes, (name) => removed.has(name)),
    ...added.map(([name, value]) => insertMember(bytes, root, name, JSON.stringify(value))),
  ];
}
