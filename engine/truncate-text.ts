/**
 * Texts of unknown origin that outlive their request are cut, so that they cannot fill the memory.
 */
import type { NoteValue } from './context.ts';

/** Longest text that a trace keeps of one field, in UTF-16 code units. */
const MAX_KEPT_CHARS = 256;
const CUT_MARK = '…';

/**
 * Returns `text`, or its beginning and an ellipsis mark: at most `maxChars`, without keeping a
 * longer original alive.
 */
export function truncateText(text: string, maxChars = MAX_KEPT_CHARS): string {
  return text.length <= maxChars ? text : cutText(text, maxChars - CUT_MARK.length) + CUT_MARK;
}

/** Returns the first `maxChars` of `text` without keeping the original alive. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // Copied through bytes: a plain slice would keep the whole long string alive.
  return Buffer.from(text.slice(0, maxChars)).toString();
}

/** Returns a note with all its texts, at any depth, cut by `truncateText`. */
export function truncateNote(value: NoteValue): NoteValue {
  if (typeof value === 'string') return truncateText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly NoteValue[]).map(truncateNote);
  const entries = Object.entries(value as { readonly [key: string]: NoteValue });
  return Object.fromEntries(
    entries.map(([name, nested]) => [truncateText(name), truncateNote(nested)]),
  );
}
