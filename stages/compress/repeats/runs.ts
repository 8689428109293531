/**
 * Runs of lines that occurred before: their length, and which part of one a single reference can
 * name.
 */
import { numberAt, readNumbering, type SplitLines } from './gutter.ts';
import type { NamedLines, Numbers } from './reference.ts';

/**
 * Lines `from` to `to` (half open) of a text that also occurred in an earlier one, or above in the
 * same.
 */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** Number of the first line at the earlier occurrence, counted or printed. */
  readonly first: number;
  readonly by: NamedLines['by'];
  /** The earlier text, and which of its lines were left out there. */
  readonly lines: readonly string[];
  readonly hidden: readonly boolean[] | undefined;
  /** Line numbers in the earlier text; NaN for a line that was left out. */
  readonly numbers: readonly number[];
  /** The line numbers printed there. */
  readonly printed: readonly number[] | undefined;
  /** Number column of that text, and the index of the run's first line in it. */
  readonly prefixes: SplitLines['prefixes'];
  readonly line: number;
}

/** The part of a text that references to its own lines need. */
export interface OwnText {
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly verbatim: readonly boolean[];
  /** Lines that must not refer to another line of the same text, by index. */
  readonly distinct: ReadonlySet<number>;
}

/** Returns a 32-bit hash of a line (FNV-1a over UTF-16 units). */
export function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Returns a key of the three lines from `at` on. */
export function hashRun(hashes: readonly number[], at: number): number {
  // Three 32-bit hashes mixed into a number below 2^53; equal keys are compared line by line.
  return (
    (Math.imul(hashes[at]!, 31) ^ hashes[at + 1]!) * 2097151 +
    ((hashes[at + 2]! ^ (hashes[at]! >>> 7)) & 0x1fffff)
  );
}

/**
 * Counts the lines from `at` on that also occur from `before` on in the same text, verbatim and
 * numbered without a gap.
 */
export function ownRun(own: OwnText, before: number, at: number): number {
  let length = 0;
  while (
    at + length < own.lines.length &&
    before + length < at &&
    own.verbatim[before + length] === true &&
    own.numbers[before + length] === own.numbers[before]! + length &&
    own.lines[before + length] === own.lines[at + length] &&
    !own.distinct.has(at + length)
  ) {
    length++;
  }
  return length;
}

/** Counts the equal lines from the two offsets on. */
export function sameLines(
  a: readonly string[],
  atA: number,
  b: readonly string[],
  atB: number,
): number {
  let length = 0;
  while (atB + length < b.length && a[atA + length] === b[atB + length]) length++;
  return length;
}

/** Maximum share of the referenced lines that may have been left out at the target. */
const MAX_HIDDEN_SHARE = 1 / 3;

/**
 * Minimum share of the covered lines, including hidden ones around the run, that must be visible
 * there.
 */
const MIN_VISIBLE_SHARE = 1 / 2;

/** A comment or a blank line, judged by the line alone. */
const COMMENT_OR_BLANK = /^\s*(?:$|\/\/|\/?\*|#|<!--|--|;|%|"{3}|'{3})/;

function isCommentOrBlank(line: string): boolean {
  return COMMENT_OR_BLANK.test(line);
}

/**
 * Counts the lines, of `length` from `line` on, that may be referred to; the first and last must be
 * visible.
 */
export function referableLength(
  {
    hidden,
    lines,
  }: { readonly hidden?: readonly boolean[] | undefined; readonly lines: readonly string[] },
  line: number,
  length: number,
  overHidden: boolean,
): number {
  if (hidden === undefined) return length;
  if (hidden[line] === true) return 0;
  let end = length;
  // A line of content that was not sent was never seen.
  for (let at = 1; at < end; at++)
    if (hidden[line + at] === true && !isCommentOrBlank(lines[line + at]!)) end = at;
  while (end > 0 && hidden[line + end - 1] === true) end--;
  let count = 0;
  let firstHidden = end;
  for (let at = end - 1; at > 0; at--) {
    if (hidden[line + at] !== true) continue;
    count++;
    firstHidden = at;
  }
  return overHidden && count <= end * MAX_HIDDEN_SHARE ? end : firstHidden;
}

/**
 * Returns how the lines of a run are numbered, the same for all of them; undefined if that cannot
 * be expressed.
 */
export function numbersOf(run: Run, prefixes: SplitLines['prefixes']): Numbers | undefined {
  const here = (at: number): string => prefixes?.[run.from + at] ?? '';
  const there = (at: number): string => run.prefixes?.[run.line + at] ?? '';
  const allLines = (holds: (at: number) => boolean): boolean => {
    for (let at = 0; at < run.to - run.from; at++) if (!holds(at)) return false;
    return true;
  };
  if (here(0) === '' && allLines((at) => here(at) === ''))
    return run.prefixes === undefined || allLines((at) => there(at) === '') ? 'same' : 'none';
  if (here(0) === '') return 'same';
  const numbering = readNumbering(here(0));
  if (numbering === undefined) return undefined;
  if (isNumberCounted(run, prefixes, 0) && allLines((at) => here(at) === there(at))) return 'same';
  return allLines((at) => here(at) === numberAt(numbering, at)) ? { first: here(0) } : undefined;
}

/**
 * Counts the lines left out right before and after the run at its earlier occurrence: the reference
 * covers them too, like those inside the run. At most `above` lines before it are inspected.
 */
export function hiddenAround(
  { from, to, line, lines: there, hidden }: Run,
  lines: readonly string[],
  above: number,
): { readonly before: number; readonly after: number } {
  const isHidden = (at: number): boolean =>
    hidden?.[line + at] === true &&
    there[line + at] === lines[from + at] &&
    isCommentOrBlank(lines[from + at]!);
  let before = 0;
  while (before < above && isHidden(-before - 1)) before++;
  let after = 0;
  while (to + after < lines.length && isHidden(to - from + after)) after++;
  let seen = 0;
  for (let at = 0; at < to - from; at++) if (hidden?.[line + at] !== true) seen++;
  const all = before + to - from + after;
  return seen >= all * MIN_VISIBLE_SHARE ? { before, after } : { before: 0, after: 0 };
}

/** Returns the number of the last visible line of a run at its earlier occurrence. */
export function lastNumberOf({ from, to, first, by, numbers, line }: Run): number {
  let last = to - from - 1;
  if (by === 'printed') return first + last;
  while (last > 0 && Number.isNaN(numbers[line + last]!)) last--;
  return numbers[line + last]!;
}

/**
 * Returns true if the printed number of a line equals the counted one; a view may begin further
 * down.
 */
function isNumberCounted(run: Run, prefixes: SplitLines['prefixes'], at: number): boolean {
  return readNumbering(prefixes?.[run.from + at] ?? '')?.first === run.first + at;
}

/**
 * Clips a run to the part that one reference can name: numbered throughout, not numbered at all, or
 * numbered as at the earlier occurrence. It ends before a line that must stay verbatim, and before
 * a line whose number there differs from the one the reference implies.
 */
export function clipRun(
  run: Run | undefined,
  prefixes: SplitLines['prefixes'],
  literal: ReadonlySet<number>,
): Run | undefined {
  if (run === undefined) return undefined;
  const isNumbered = (at: number): boolean => prefixes !== undefined && prefixes[at] !== '';
  const isUnchangedAt = (at: number): boolean =>
    (prefixes?.[at] ?? '') === (run.prefixes?.[run.line + at - run.from] ?? '') &&
    (!isNumbered(at) ||
      (at > run.from && isNumbered(at - 1)) ||
      isNumberCounted(run, prefixes, at - run.from));
  let asThere = isUnchangedAt(run.from);
  let isMixed = false;
  let to = run.from + 1;
  for (; to < run.to && !literal.has(to) && isFoundByPrinted(run, to - run.from); to++) {
    asThere &&= isUnchangedAt(to);
    isMixed ||= isNumbered(to) !== isNumbered(to - 1);
    if (isMixed && !asThere) break;
  }
  return { ...run, to };
}

/** Returns true if a reader going by printed numbers finds the line where the reference puts it. */
function isFoundByPrinted({ printed, line, first, by }: Run, at: number): boolean {
  const number = printed?.[line + at] ?? Number.NaN;
  return Number.isNaN(number) ? by === 'count' : number === first + at;
}
