/**
 * Applies a request's edits to its original bytes, in one place and in one copy.
 */
import { SvcError } from '../../engine/index.ts';
import { findSpans } from './json-path.ts';
import { QUOTE } from './json-skip.ts';
import type { ByteSpan } from './json-path.ts';
import { isEdited } from '../model/request.ts';
import type { NewValue, ProxyRequest } from '../model/request.ts';
import { removeMembers } from './members.ts';
import { insertMember, splice } from './splice.ts';
import type { SpliceEdit } from './splice.ts';
import { textEdits } from './text-edits.ts';

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
  return isEdited(request)
    ? { bytes: plainBody(request), encoded: false }
    : { bytes: request.original.body.wireBytes, encoded: true };
}

/** Returns the decoded body with all edits. */
export function plainBody(request: ProxyRequest): Buffer {
  const { bytes } = request.original.body;
  return isEdited(request)
    ? splice(bytes, [...textEdits(request), ...valueEdits(request), ...changedMembers(request)])
    : bytes;
}

/** Returns the edits that replace values and add cache markers. */
function valueEdits(request: ProxyRequest): readonly SpliceEdit[] {
  const { bytes } = request.original.body;
  const values = newValues(request);
  const { markers } = request.edits;
  if (values.length + markers.length === 0) return [];
  const places = [...values.map(({ path }) => path), ...markers];
  const own = markers.map((path) => [...path, 'cache_control']);
  const spans = findSpans(bytes, [...places, ...own]);
  if (spans.slice(0, places.length).includes(undefined))
    throw new SvcError('internal', 'An edited value has no place in the body');
  const edits: SpliceEdit[] = values.map(({ json }, at) => ({
    ...spans[at]!,
    bytes: Buffer.from(json),
  }));
  for (const at of markers.keys()) {
    // Some clients write every possible member, with null for those they do not set.
    const none = spans[places.length + at];
    if (none !== undefined) edits.push({ ...none, bytes: Buffer.from(MARKER) });
    else edits.push(...markerAt(bytes, spans[values.length + at]!));
  }
  return edits;
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

/** Returns the values other than texts that have a place in the body already. */
function newValues({ original, edits }: ProxyRequest): readonly NewValue[] {
  const list: NewValue[] = [...edits.values];
  for (const [name, value] of edits.params) {
    if (value !== undefined && hasMember(original.json, name))
      list.push({ path: [name], json: JSON.stringify(value) });
  }
  return list;
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
