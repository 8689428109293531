/** Fits text into screen columns: measures width, folds between words, cuts paths in the middle. */
import { linesInColor, withoutColors } from './colors.ts';

/** Characters that take two columns: East Asian wide characters and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|[\u200b\u200c]|\u200d/u;

/** A path of at least two parts. */
const PATH = /^(?:~|\.{1,2})?\/\S*\/\S*$/;

/** Returns the screen columns that `text` takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of withoutColors(text)) {
    if (char < '\u0300') width += 1;
    else if (!NO_WIDTH.test(char)) width += WIDE.test(char) ? 2 : 1;
  }
  return width;
}

/**
 * Cuts `text`, which has no colours, to at most `width` columns, with a mark for the omitted end.
 */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const char of text) {
    used += widthOf(char);
    if (used > width - 1) break;
    kept += char;
  }
  return width < 1 ? '' : `${kept}…`;
}

/**
 * Folds `text` into lines of at most `columns`, between words. Continuation lines are indented to
 * the last column of the first line, if it has columns: names and values, commands and their
 * descriptions. A word that is too long gets a line of its own, unbroken.
 */
export function wrap(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const hang = hangOf(withoutColors(text), columns);
  const lines: string[] = [];
  let line = '';
  // Spaces stay with the word before them; colours contain no spaces and stay with their words.
  for (const piece of text.match(/^ *\S+ *|\S+ */g) ?? [text]) {
    const isFull = widthOf(line + piece.trimEnd()) > columns;
    if (isFull && line.trim() !== '') {
      lines.push(line.trimEnd());
      const room = columns - hang;
      line = widthOf(piece.trimEnd()) > room ? piece : ' '.repeat(hang) + piece;
    } else line += piece;
  }
  return [...lines, line.trimEnd()];
}

/** Returns the indent of continuation lines. */
function hangOf(text: string, columns: number): number {
  const hang = /^ *(?:\S+ )*?\S+ {2,}/.exec(text)?.[0].length ?? 0;
  if (hang > 0 && hang <= columns / 2) return hang;
  return Math.min(/^ */.exec(text)?.[0].length ?? 0, columns / 2);
}

/**
 * Returns the smallest width in which `cell` can be shown without breaking a word; words (but not
 * figures) longer than `maxWord` may be broken.
 */
export function minWidth(cell: string, maxWord = Number.POSITIVE_INFINITY): number {
  const bare = withoutColors(cell);
  if (isPath(bare)) return Math.min(widthOf(bare), 24);
  const widths = breakable(bare).map((piece) => {
    const width = widthOf(piece.trimEnd());
    return LETTER.test(piece) ? Math.min(width, maxWord) : width;
  });
  return Math.max(0, ...widths);
}

const LETTER = /\p{L}/u;

/** Folds `cell` into lines of at most `width`, which is not below `minWidth`. */
export function fold(cell: string, width: number): string[] {
  if (widthOf(cell) <= width) return [cell];
  return linesInColor(cell, (bare) => foldBare(bare, width));
}

function foldBare(cell: string, width: number): string[] {
  if (isPath(cell)) return [cutPath(cell, width)];
  const lines: string[] = [];
  let line = '';
  for (const piece of breakable(cell).flatMap((word) => broken(word, width))) {
    if (line !== '' && widthOf(line + piece.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = piece;
    } else line += piece;
  }
  return [...lines, line.trimEnd()];
}

/** Splits a word into pieces of at most `width`. */
function broken(word: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const char of word) {
    if (piece !== '' && widthOf((piece + char).trimEnd()) > width) {
      pieces.push(piece);
      piece = char;
    } else piece += char;
  }
  return [...pieces, piece];
}

/** Shortens `path` in the middle: its beginning and its file name matter most. */
export function cutPath(path: string, width: number): string {
  if (path.length <= width) return path;
  const room = Math.max(2, width - 1);
  const parts = path.split('/');
  let start = parts.shift() ?? '';
  let tail = '';
  for (let isTail = true; parts.length > 0; isTail = !isTail) {
    const part = `/${isTail ? parts.pop() : parts.shift()}`;
    // The mark for the omission needs a slash too.
    if (start.length + part.length + tail.length > room - 1) break;
    if (isTail) tail = part + tail;
    else start += part;
  }
  if (tail !== '') return `${start}/…${tail}`;
  const end = Math.floor(room / 2);
  return `${path.slice(0, room - end)}…${path.slice(path.length - end)}`;
}

function isPath(text: string): boolean {
  return PATH.test(text);
}

/**
 * Words, and names split at their separators: `claude-` `opus-` `4`. A figure, a date and a time of
 * day are not split: their pieces would be read as other figures.
 */
const PARTS =
  /(?:\d{4}-\d\d-\d\d|(?<=\d)[,:](?=\d)|(?<!\p{L})\.|\.(?!\p{L})|[^\s\-/_:,.])*(?:[-/_:,]+|\.)? *|\s+/gu;

function breakable(text: string): string[] {
  return text.match(PARTS)?.filter((piece) => piece !== '') ?? [];
}
