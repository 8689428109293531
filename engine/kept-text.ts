/** Texts of unknown origin that are kept beyond their request are cut, so that nobody fills the memory with them. */
import type { NoteValue } from './context.ts';

/** Longest text that a trace keeps of one field, in UTF-16 units. */
const MAX_KEPT_CHARS = 256;
const CUT_MARK = '…';

/** `text`, or its beginning and a mark: at most `maxChars`, with nothing of a longer one kept alive. */
export function keptText(text: string, maxChars = MAX_KEPT_CHARS): string {
  return text.length <= maxChars ? text : cutText(text, maxChars - CUT_MARK.length) + CUT_MARK;
}

/** The first `maxChars` of `text`, nothing of which is kept alive. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // Through bytes: a plain slice would keep the whole long string alive behind the short one.
  return Buffer.from(text.slice(0, maxChars)).toString();
}

/** A note whose texts, however deep, are cut by `keptText`. */
export function keptNote(value: NoteValue): NoteValue {
  if (typeof value === 'string') return keptText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly NoteValue[]).map(keptNote);
  const entries = Object.entries(value as { readonly [key: string]: NoteValue });
  return Object.fromEntries(entries.map(([name, held]) => [keptText(name), keptNote(held)]));
}
