/** Edits `NAME=value` files. */
import { lineStart, newlineOf, nextLine, splice, withFinalNewline } from './text-format.ts';
import type { KeyPath, TextFormat } from './text-format.ts';

export const dotenv: TextFormat = {
  find(text, path) {
    const span = spanOf(text, path);
    if (span === undefined) return undefined;
    const raw = text.slice(span.start, span.end);
    return { raw, value: raw.trim().replace(/^(["'])(.*)\1$/, '$2') };
  },
  put(text, path, raw) {
    const span = spanOf(text, path);
    return span === undefined
      ? `${withFinalNewline(text)}${path[0]}=${raw}${newlineOf(text)}`
      : splice(text, span.start, span.end, raw);
  },
  remove(text, path) {
    const span = spanOf(text, path);
    return span === undefined
      ? text
      : splice(text, lineStart(text, span.start), nextLine(text, span.end), '');
  },
  has: (text, path) => spanOf(text, path) !== undefined,
  isEmpty: () => false,
  encode: String,
};

/** Returns the value's span in the last line that sets the variable, which is the effective one. */
function spanOf(text: string, path: KeyPath): { start: number; end: number } | undefined {
  const name = String(path[0]).replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  const line = new RegExp(
    String.raw`^([ \t]*(?:export[ \t]+)?${name}[ \t]*=[ \t]*)([^\r\n]*)`,
    'gm',
  );
  const match = [...text.matchAll(line)].at(-1);
  if (match === undefined) return undefined;
  const start = match.index + (match[1] ?? '').length;
  return { start, end: start + (match[2] ?? '').length };
}
