/** Runs of lines that stood before: how long they are, and how they may be named in one reference. */
import { numberAt, readNumbering, type SplitLines } from './gutter.ts';
import type { NamedLines, Numbers } from './reference.ts';

/** Lines from `from` up to, and without, `to` of a text that stood in an earlier one, or above in the same. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** The number of the first line where it stood before, counted or printed. */
  readonly first: number;
  readonly by: NamedLines['by'];
  /** The text where they stood, and which of its lines were left out there. */
  readonly lines: readonly string[];
  readonly hidden: readonly boolean[] | undefined;
  /** The numbers of the lines where they stood; NaN for one that was left out there. */
  readonly numbers: readonly number[];
  /** The numbers that a view printed there. */
  readonly printed: readonly number[] | undefined;
  /** What stood before the lines of that text, and the index of the first of them in it. */
  readonly prefixes: SplitLines['prefixes'];
  readonly line: number;
}

/** The part of a text that its own lines may be named by. */
export interface OwnText {
  readonly lines: readonly string[];
  readonly numbers: readonly number[];
  readonly verbatim: readonly boolean[];
  /** Lines that no other line of the text stands for, by index. */
  readonly distinct: ReadonlySet<number>;
}

/** A 32-bit hash of a line (FNV-1a over UTF-16 units). */
export function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** A key of the three lines from `line` on. */
export function hashRun(hashes: readonly number[], at: number): number {
  // Three 32-bit hashes mixed into a number below 2^53; equal keys are compared line by line.
  return (
    (Math.imul(hashes[at]!, 31) ^ hashes[at + 1]!) * 2097151 +
    ((hashes[at + 2]! ^ (hashes[at]! >>> 7)) & 0x1fffff)
  );
}

/** How many lines from `at` on stand above in the same text from `before` on, verbatim and counted without a gap. */
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

/** How many lines are equal from the two places on. */
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

/** At most such a share of what a reference names may have been left out where it stood. */
const HIDDEN_SHARE = 1 / 3;

/** Of what it stands for with the lines around it, such a share can be seen. */
const SEEN_SHARE = 1 / 2;

/** A comment or a blank line, as far as it shows by itself. */
const ASIDE = /^\s*(?:$|\/\/|\/?\*|#|<!--|--|;|%|"{3}|'{3})/;

function isAside(line: string): boolean {
  return ASIDE.test(line);
}

/** How many of `length` lines from `line` on may be named: they begin and end with one that can be seen. */
export function shownRun(
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
  // A line that says something and was not sent was never seen.
  for (let at = 1; at < end; at++)
    if (hidden[line + at] === true && !isAside(lines[line + at]!)) end = at;
  while (end > 0 && hidden[line + end - 1] === true) end--;
  let count = 0;
  let firstHidden = end;
  for (let at = end - 1; at > 0; at--) {
    if (hidden[line + at] !== true) continue;
    count++;
    firstHidden = at;
  }
  return overHidden && count <= end * HIDDEN_SHARE ? end : firstHidden;
}

/** How the lines of a run are numbered, which is so for all or for none of them; undefined where that cannot be put in words. */
export function numbersOf(run: Run, prefixes: SplitLines['prefixes']): Numbers | undefined {
  const here = (at: number): string => prefixes?.[run.from + at] ?? '';
  const there = (at: number): string => run.prefixes?.[run.line + at] ?? '';
  const isSo = (holds: (at: number) => boolean): boolean => {
    for (let at = 0; at < run.to - run.from; at++) if (!holds(at)) return false;
    return true;
  };
  if (here(0) === '' && isSo((at) => here(at) === ''))
    return run.prefixes === undefined || isSo((at) => there(at) === '') ? 'same' : 'none';
  if (here(0) === '') return 'same';
  const numbering = readNumbering(here(0));
  if (numbering === undefined) return undefined;
  if (isCounted(run, prefixes, 0) && isSo((at) => here(at) === there(at))) return 'same';
  return isSo((at) => here(at) === numberAt(numbering, at)) ? { first: here(0) } : undefined;
}

/**
 * How many lines before `from` and from `to` on were left out right before and behind the run where
 * it stood: what names the run stands for them too, as it does for those inside it. At most `above`
 * lines before it are looked at.
 */
export function hiddenAround(
  { from, to, line, lines: there, hidden }: Run,
  lines: readonly string[],
  above: number,
): { readonly before: number; readonly behind: number } {
  const isHidden = (at: number): boolean =>
    hidden?.[line + at] === true &&
    there[line + at] === lines[from + at] &&
    isAside(lines[from + at]!);
  let before = 0;
  while (before < above && isHidden(-before - 1)) before++;
  let behind = 0;
  while (to + behind < lines.length && isHidden(to - from + behind)) behind++;
  let seen = 0;
  for (let at = 0; at < to - from; at++) if (hidden?.[line + at] !== true) seen++;
  const all = before + to - from + behind;
  return seen >= all * SEEN_SHARE ? { before, behind } : { before: 0, behind: 0 };
}

/** The number of the last line of a run that can be seen where it stood. */
export function lastOf({ from, to, first, by, numbers, line }: Run): number {
  let last = to - from - 1;
  if (by === 'printed') return first + last;
  while (last > 0 && Number.isNaN(numbers[line + last]!)) last--;
  return numbers[line + last]!;
}

/** True where the number before a line is the one that a reference counts: a view may begin further down. */
function isCounted(run: Run, prefixes: SplitLines['prefixes'], at: number): boolean {
  return readNumbering(prefixes?.[run.from + at] ?? '')?.first === run.first + at;
}

/**
 * The part of a run that can be put in one reference: numbered throughout, or not at all, or
 * as the lines were where they stood. It ends before a line that must stay, and before one that
 * has another number where it stood than the reference gives it.
 */
export function clipRun(
  run: Run | undefined,
  prefixes: SplitLines['prefixes'],
  literal: ReadonlySet<number>,
): Run | undefined {
  if (run === undefined) return undefined;
  const isNumbered = (at: number): boolean => prefixes !== undefined && prefixes[at] !== '';
  const isAsThere = (at: number): boolean =>
    (prefixes?.[at] ?? '') === (run.prefixes?.[run.line + at - run.from] ?? '') &&
    (!isNumbered(at) ||
      (at > run.from && isNumbered(at - 1)) ||
      isCounted(run, prefixes, at - run.from));
  let asThere = isAsThere(run.from);
  let isMixed = false;
  let to = run.from + 1;
  for (; to < run.to && !literal.has(to) && isNamedRight(run, to - run.from); to++) {
    asThere &&= isAsThere(to);
    isMixed ||= isNumbered(to) !== isNumbered(to - 1);
    if (isMixed && !asThere) break;
  }
  return { ...run, to };
}

/** True if a reader who goes by the numbers that are printed there finds the line where the reference puts it. */
function isNamedRight({ printed, line, first, by }: Run, at: number): boolean {
  const number = printed?.[line + at] ?? Number.NaN;
  return Number.isNaN(number) ? by === 'count' : number === first + at;
}
