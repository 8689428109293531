/**
 * The line-number column of a numbered view of a file, lossless: numbers count up by one,
 * so the first and every fifth say it all. The lines themselves stay as they are, and a
 * reader who edits by number counts no further than four.
 */
import { isView, lineNumbering } from '../../model/classify/envelope.ts';
import { MARK } from '../text/marker.ts';

/** Shorter runs of numbered lines are left alone. */
const MIN_RUN = 8;
/** Numbers that are multiples of this are shown. */
const EVERY = 5;
/**
 * How viewers print a number before a line: what precedes the digits, the digits with their
 * padding, and what separates them from the line. Views with a colon and nothing behind it are
 * left alone: the editors that go with them take line numbers.
 */
const FORMATS: readonly RegExp[] = [
  // `cat -n`, `nl`, Claude Code, Cline, Zed
  /^()( {0,8}\d{1,7})(\t|→)/,
  // Roo Code, Kilo Code
  /^()( {0,8}\d{1,7})( \| )/,
  // OpenCode until 2025
  /^()(\d{5,7})(\| )/,
  // Crush
  /^()(?=[ \d]{6}\|)( {0,5}\d{1,6})(\|)/,
  // OpenCode
  /^()(\d{1,7})(: )/,
  // Codex
  /^(L)(\d{1,7})(: )/,
];
/** Separators that tables, lists and configuration have too. */
const COMMON = /^(?: \| |\| |\||: )$/;
const ANY_NUMBERED = /(?:^|\n)(?: {0,8}\d{1,7}(?:[\t→|]| \| )|L?\d{1,7}: )/;
const HEADER = /^\[svc (\d{1,7}) lines, every fifth numbered\]$/;

/** How the numbers of one view are printed. */
export interface Column {
  /** What stands before every number. */
  readonly lead: string;
  /** Numbers are padded on the left to so many characters. */
  readonly width: number;
  readonly padding: ' ' | '0';
  readonly separator: string;
}

/** Lines `from` to `to` (half open): numbered, or references of ours between numbered ones. */
interface Run {
  readonly from: number;
  readonly to: number;
  /** Numbers of the lines; undefined for a reference. */
  readonly numbers: readonly (number | undefined)[];
  readonly column: Column;
}

/** How the lines of a run are numbered, one after the other. */
export interface Numbering {
  readonly first: number;
  readonly column: Column;
}

/** The numbering whose first line begins with exactly `text`; undefined where that is no number of a known format. */
export function readNumbering(text: string): Numbering | undefined {
  const read = readNumber(text);
  if (read === undefined || prefix(read.number, read.column) !== text) return undefined;
  return { first: read.number, column: read.column };
}

/** What stands before the line that is `at` lines behind the first, counted from 0. */
export function numberAt({ first, column }: Numbering, at: number): string {
  return prefix(first + at, column);
}

/** The number that a line begins with, in the first format that fits it. */
function readNumber(line: string) {
  for (const format of FORMATS) {
    const match = format.exec(line);
    if (match === null) continue;
    const [, lead = '', padded = '', separator = ''] = match;
    const padding = padded.startsWith('0') ? '0' : ' ';
    const column = { lead, width: padded.length, padding, separator } as const;
    return { number: Number(padded), column };
  }
  return undefined;
}

/** The text with its line numbers thinned out; undefined where it has no numbered run or would not decode. */
export function thinGutter(text: string): string | undefined {
  if (!ANY_NUMBERED.test(text)) return undefined;
  const lines = text.split('\n');
  const out: string[] = [];
  let thinned = false;
  for (let at = 0; at < lines.length;) {
    const run = readRun(lines, at);
    if (run === undefined) {
      out.push(lines[at]!);
      at++;
      continue;
    }
    const numbered = run.numbers.filter((number) => number !== undefined).length;
    const own = lines.slice(run.from, run.to);
    const thins = numbered >= MIN_RUN && isNumberedView(lines, run);
    if (thins) out.push(`${MARK}${own.length} lines, every fifth numbered]`);
    for (const line of thins ? thin(lines, run) : own) out.push(line);
    thinned ||= thins;
    at = run.to;
  }
  const made = out.join('\n');
  return thinned && fillGutter(made) === text ? made : undefined;
}

/**
 * True if the run shows a file. Where its numbers could as well be those of a table, a list or a
 * mapping, there must be a blank or an indented line in it, no row of column names above, not the
 * same number of bars in every line, and no line around it that counts on in another way.
 */
function isNumberedView(lines: readonly string[], { from, to, numbers, column }: Run): boolean {
  const own = lines.slice(from, to);
  const above = lines[from - 1];
  if (!COMMON.test(column.separator)) return isView(own, above);
  const rests = own.flatMap((line, at) => {
    const number = numbers[at];
    return number === undefined ? [] : [line.slice(prefix(number, column).length)];
  });
  if (!rests.some((rest) => rest === '' || /^\s/.test(rest))) return false;
  // The blank behind a colon may be the line's own, as where hits of an indented text follow each other.
  if (column.separator === ': ' && rests.every((rest) => /^\s/.test(rest))) return false;
  if (above !== undefined && /\||-\+-/.test(above)) return false;
  const bars = rests[0]!.split('|').length;
  if (bars > 1 && rests.every((rest) => rest.split('|').length === bars)) return false;
  const [first, last] = [numbers[0], numbers.at(-1)];
  return !countsOn(above, first, -1) && !countsOn(lines[to], last, 1);
}

/** True if `line` has the number before or after `number`, and a mark behind it. */
function countsOn(line: string | undefined, number: number | undefined, by: -1 | 1): boolean {
  const found = /^ *L?(\d{1,7}) ?[:|]/.exec(line ?? '')?.[1];
  return found !== undefined && number !== undefined && Number(found) === number + by;
}

function thin(lines: readonly string[], { from, numbers, column }: Run): readonly string[] {
  return numbers.map((number, at) => {
    const line = lines[from + at]!;
    if (number === undefined) return line;
    return isNumbered(numbers[at - 1], number) ? line : line.slice(prefix(number, column).length);
  });
}

function isNumbered(before: number | undefined, number: number): boolean {
  return before === undefined || number % EVERY === 0;
}

function readRun(lines: readonly string[], from: number): Run | undefined {
  const column = readNumber(lines[from]!)?.column;
  if (column === undefined) return undefined;
  const numbers: (number | undefined)[] = [];
  let last: number | undefined;
  let end = 0;
  for (let at = from; at < lines.length; at++) {
    const number = numberOf(lines[at]!, column, last);
    if (number === undefined && !lines[at]!.startsWith(MARK)) break;
    numbers.push(number);
    last = number;
    if (number !== undefined) end = numbers.length;
  }
  return { from, to: from + end, numbers: numbers.slice(0, end), column };
}

/** The number before a line: one more than the last, or any where no number stands right before it. */
function numberOf(line: string, column: Column, last: number | undefined): number | undefined {
  const number = last === undefined ? readNumber(line)?.number : last + 1;
  return number !== undefined && line.startsWith(prefix(number, column)) ? number : undefined;
}

function prefix(number: number, { lead, width, padding, separator }: Column): string {
  return lead + String(number).padStart(width, padding) + separator;
}

/** The text with all its line numbers. A text that was never thinned out comes back as it is. */
export function fillGutter(text: string): string {
  const lines = text.split('\n');
  const read = readThinned(lines);
  if (read === undefined) return text;
  return lines
    .flatMap((line, at) => {
      const { header, missing } = read[at]!;
      return header ? [] : [missing + line];
    })
    .join('\n');
}

/** Lines of a text in two parts. */
export interface SplitLines {
  /** The lines without the line-number column of a numbered view. */
  readonly contents: readonly string[];
  /** What a view prints before each of them, also where we thinned it out; undefined where no line has a number. */
  readonly prefixes: readonly string[] | undefined;
}

/** Cuts the line numbers off. */
export function splitNumbers(lines: readonly string[]): SplitLines {
  const thinned = readThinned(lines);
  if (thinned !== undefined)
    return {
      contents: lines.map((line, at) => line.slice(thinned[at]!.digits)),
      prefixes: thinned.map(({ missing, digits }, at) => missing || lines[at]!.slice(0, digits)),
    };
  const widths = numberWidths(lines);
  if (widths === undefined) return { contents: lines, prefixes: undefined };
  return {
    contents: lines.map((line, at) => line.slice(widths[at])),
    prefixes: lines.map((line, at) => line.slice(0, widths[at])),
  };
}

/** Lengths of the line numbers; undefined where the text is no numbered view. */
function numberWidths(lines: readonly string[]): readonly number[] | undefined {
  const widths = lineNumbering(lines);
  const first = widths?.findIndex((width) => width > 0) ?? -1;
  const separator = first < 0 ? undefined : readNumber(lines[first]!)?.column.separator;
  // Rows of a table may begin so, and their ids are no line numbers.
  return separator === undefined || COMMON.test(separator) ? runWidths(lines) : widths;
}

/** Lines without the line-number column of a numbered view. */
export function lineContents(lines: readonly string[]): readonly string[] {
  return splitNumbers(lines).contents;
}

/** A numbered view between lines that are none of it, as a harness wraps them. */
function runWidths(lines: readonly string[]): readonly number[] | undefined {
  const widths = lines.map(() => 0);
  let found = false;
  for (let at = 0; at < lines.length;) {
    const run = readRun(lines, at);
    if (run !== undefined && run.numbers.length >= MIN_RUN && isNumberedView(lines, run)) {
      found = true;
      run.numbers.forEach((number, line) => {
        if (number !== undefined) widths[at + line] = prefix(number, run.column).length;
      });
    }
    at = run?.to ?? at + 1;
  }
  return found ? widths : undefined;
}

interface ThinnedLine {
  readonly header: boolean;
  readonly missing: string;
  readonly digits: number;
}

const PLAIN: ThinnedLine = { header: false, missing: '', digits: 0 };

function readThinned(lines: readonly string[]): readonly ThinnedLine[] | undefined {
  // Nearly every text has none, and is split once a turn.
  if (!lines.some((line) => line.startsWith(MARK) && HEADER.test(line))) return undefined;
  const out: ThinnedLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    const count = Number(HEADER.exec(lines[at]!)?.[1] ?? 0);
    if (count === 0) {
      out.push(PLAIN);
      continue;
    }
    out.push({ ...PLAIN, header: true });
    for (const line of readBelow(lines.slice(at + 1, at + 1 + count))) out.push(line);
    at += count;
  }
  return out;
}

function readBelow(lines: readonly string[]): readonly ThinnedLine[] {
  const column = readNumber(lines[0] ?? '')?.column;
  if (column === undefined) return lines.map(() => PLAIN);
  let last: number | undefined;
  return lines.map((line) => {
    if (line.startsWith(MARK)) {
      last = undefined;
      return PLAIN;
    }
    const before = last;
    last = before === undefined ? (readNumber(line)?.number ?? 0) : before + 1;
    const own = prefix(last, column);
    return isNumbered(before, last) ? { ...PLAIN, digits: own.length } : { ...PLAIN, missing: own };
  });
}
