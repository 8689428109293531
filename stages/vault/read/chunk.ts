/**
 * Splits a file into blocks. The caller, which knows the file's type, marks the lines where a part
 * begins (a heading, a definition) and how deep that part is nested; this module forms blocks of a
 * useful size. Every non-blank line is in exactly one block.
 */

/**
 * Approximate maximum length of a block, so that five fit into the default budget of 4,000 tokens.
 */
export const MAX_CHARS = 2_400;
/** Shorter parts are joined to the next one, because a block needs enough words to be found by. */
const MIN_CHARS = 400;

/** Start of a part at nesting level `depth`; `line` counts from 0. */
export interface Mark {
  readonly line: number;
  readonly depth: number;
}

/** A piece of a file; lines count from 1, inclusive. */
export interface Piece {
  readonly startLine: number;
  readonly endLine: number;
  readonly content: string;
}

/** A run of lines, half open. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Splits text into lines, without line endings. */
export function toLines(text: string): string[] {
  // Splitting by a pattern takes several times as long as by a character.
  return text.includes('\r') ? text.split(/\r?\n/) : text.split('\n');
}

/** Cuts the lines of a file into pieces at `marks`, which may be in any order. */
export function cutAtMarks(lines: readonly string[], marks: readonly Mark[]): Piece[] {
  const sizes = lineOffsets(lines);
  const whole = { from: 0, to: lines.length };
  const inside = marks
    .filter(({ line }) => line > 0 && line < lines.length)
    .toSorted((a, b) => a.line - b.line);
  const spans = splitAtMarks(whole, inside, 0, sizes).flatMap((span) =>
    sizeOf(span, sizes) > MAX_CHARS ? splitAnywhere(span, lines, sizes) : [span],
  );
  return joinShort(spans, sizes).flatMap((span) => toPieces(span, lines, sizes));
}

/**
 * Cuts at the marks of one depth, and parts that are still too long at the next. The marks are
 * those inside the span, in order; each part consumes its own from the front, so a file full of
 * marks takes no longer than any other.
 */
function splitAtMarks(
  span: Span,
  marks: readonly Mark[],
  depth: number,
  sizes: Float64Array,
): Span[] {
  if (marks.length === 0 || (depth > 0 && sizeOf(span, sizes) <= MAX_CHARS)) return [span];
  const linesAtDepth = marks.filter((mark) => mark.depth === depth).map(({ line }) => line);
  const starts = [span.from, ...new Set(linesAtDepth)];
  let taken = 0;
  return starts.flatMap((from, index) => {
    const to = starts[index + 1] ?? span.to;
    const first = taken;
    while (taken < marks.length && marks[taken]!.line < to) taken++;
    const own = marks.slice(first, taken).filter(({ line }) => line > from);
    return splitAtMarks({ from, to }, own, depth + 1, sizes);
  });
}

/** Cuts a span without marks into parts that fit, after a blank line if there is one. */
function splitAnywhere(span: Span, lines: readonly string[], sizes: Float64Array): Span[] {
  const parts: Span[] = [];
  let from = span.from;
  let blank = -1;
  for (let line = span.from; line < span.to; line++) {
    if (line > from && sizeOf({ from, to: line + 1 }, sizes) > MAX_CHARS) {
      const late = blank > from && sizeOf({ from, to: blank }, sizes) > MAX_CHARS / 3;
      const to = late ? blank : line;
      parts.push({ from, to });
      from = to;
    }
    if (lines[line]!.trim() === '') blank = line + 1;
  }
  parts.push({ from, to: span.to });
  return parts;
}

/** Joins neighbours while one of them is too short for a block and both fit into one. */
function joinShort(spans: readonly Span[], sizes: Float64Array): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    const small =
      last !== undefined &&
      Math.min(sizeOf(last, sizes), sizeOf(span, sizes)) < MIN_CHARS &&
      span.to > last.from &&
      sizeOf({ from: last.from, to: span.to }, sizes) <= MAX_CHARS &&
      (sizeOf(last, sizes) < MIN_CHARS || span === spans.at(-1));
    if (small) joined[joined.length - 1] = { from: last.from, to: span.to };
    else joined.push(span);
  }
  return joined;
}

/** Trims blank lines off a span; a single overlong line becomes several pieces. */
function toPieces(span: Span, lines: readonly string[], sizes: Float64Array): Piece[] {
  let { from, to } = span;
  while (from < to && lines[from]!.trim() === '') from++;
  while (to > from && lines[to - 1]!.trim() === '') to--;
  if (from === to) return [];
  const content = lines.slice(from, to).join('\n');
  if (to - from > 1 || sizeOf(span, sizes) <= MAX_CHARS) {
    return [{ startLine: from + 1, endLine: to, content }];
  }
  const pieces: Piece[] = [];
  for (let at = 0; at < content.length;) {
    const end = breakAt(content, at);
    pieces.push({ startLine: from + 1, endLine: to, content: content.slice(at, end) });
    at = end;
  }
  return pieces;
}

/** Returns where an overlong line may be broken: after a space, never inside a surrogate pair. */
function breakAt(content: string, at: number): number {
  const end = at + MAX_CHARS;
  if (end >= content.length) return content.length;
  const blank = content.lastIndexOf(' ', end);
  if (blank > at + MAX_CHARS / 2) return blank + 1;
  const code = content.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end - 1 : end;
}

/**
 * Returns offsets: `offsets[i]` is the number of characters before line `i`, line endings included.
 */
function lineOffsets(lines: readonly string[]): Float64Array {
  const offsets = new Float64Array(lines.length + 1);
  for (const [index, line] of lines.entries())
    offsets[index + 1] = offsets[index]! + line.length + 1;
  return offsets;
}

function sizeOf(span: Span, offsets: Float64Array): number {
  return offsets[span.to]! - offsets[span.from]!;
}
