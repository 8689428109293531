/**
 * Splices new bytes into an original buffer. All rewriting of requests ends here, so that untouched
 * parts are sent exactly as received.
 */
import { SvcError } from '../../engine/index.ts';

/** Replaces `[start, end)` of the original by `bytes`; an insertion where both are equal. */
export interface SpliceEdit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/**
 * Returns the original with all `edits` applied, in one copy; the same buffer where there are none.
 * Edits may be in any order; insertions at one offset keep theirs. Throws `internal` on edits that
 * overlap or are out of range: offsets come from svc, never from the user.
 */
export function splice(original: Buffer, edits: readonly SpliceEdit[]): Buffer {
  if (edits.length === 0) return original;
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const parts: Buffer[] = [];
  let at = 0;
  for (const edit of sorted) {
    if (edit.start < at || edit.end < edit.start || edit.end > original.length) {
      throw new SvcError('internal', 'Two edits of one request overlap or lie outside of it');
    }
    if (edit.start > at) parts.push(original.subarray(at, edit.start));
    if (edit.bytes.length > 0) parts.push(edit.bytes);
    at = edit.end;
  }
  if (at < original.length) parts.push(original.subarray(at));
  return Buffer.concat(parts);
}

/**
 * Returns the edit that adds a member at the end of the object at `span`. `value` is JSON text. The
 * caller ensures that the object has no member of that name.
 */
export function insertMember(
  original: Buffer,
  span: { readonly start: number; readonly end: number },
  name: string,
  value: Buffer | string,
): SpliceEdit {
  const close = span.end - 1;
  let last = close - 1;
  while (last > span.start && original[last]! <= 0x20) last -= 1;
  const separator = last === span.start ? '' : ',';
  const start = Buffer.from(`${separator}${JSON.stringify(name)}:`);
  const bytes = Buffer.concat([start, typeof value === 'string' ? Buffer.from(value) : value]);
  return Object.freeze({ start: last + 1, end: last + 1, bytes });
}
