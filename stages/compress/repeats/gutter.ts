/**
 * Thins out the line-number column of a numbered view without loss: numbers rise by one, so the
 * first and every fifth are enough. The lines themselves stay unchanged, and a reader who edits by
 * number counts four lines at most.
 */
import { isView, lineNumbering } from '../../model/classify/envelope.ts';
import { MARK } from '../text/marker.ts';

/** Shortest run of numbered lines that is thinned out. */
const MIN_RUN = 8;
/** Numbers that are multiples of this are shown. */
const SHOWN_MULTIPLES = 5;
/**
 * How viewers print a number before a line: what precedes the digits, the digits with their
 * padding, and the separator. Views with only a colon as separator are left alone: their agents
 * address lines by number.
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
/** Separators that tables, lists and configuration files use too. */
const AMBIGUOUS_SEPARATOR = /^(?: \| |\| |\||: )$/;
const ANY_NUMBERED = /(?:^|\n)(?: {0,8}\d{1,7}(?:[\t→|]| \| )|L?\d{1,7}: )/;
const HEADER = /^\[svc (\d{1,7}) lines, every fifth numbered\]$/;

/** The number format of a view. */
export interface Column {
  /** Text before every number. */
  readonly lead: string;
  /** Numbers are padded on the left to this many characters. */
  readonly width: number;
  readonly padding: ' ' | '0';
  readonly separator: string;
}

/** Lines `from` to `to` (half open): numbered ones, or references of svc between them. */
interface Run {
  readonly from: number;
  readonly to: number;
  /** Numbers of the lines; undefined for a reference. */
  readonly numbers: readonly (number | undefined)[];
  readonly column: Column;
}

/** Numbering of the lines of a run. */
export interface Numbering {
  readonly first: number;
  readonly column: Column;
}

/**
 * Returns the numbering whose first line begins with exactly `text`; undefined if that is not a
 * known number format.
 */
export function readNumbering(text: string): Numbering | undefined {
  const read = readNumber(text);
  if (read === undefined || prefix(read.number, read.column) !== text) return undefined;
  return { first: read.number, column: read.column };
}

/** Returns the number column of the line at offset `at`, counted from 0. */
export function numberAt({ first, column }: Numbering, at: number): string {
  return prefix(first + at, column);
}

/** Returns the number at the start of a line, by the first format that matches. */
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

/** Thins out the line numbers; undefined if the text has no numbered run or would not decode. */
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
    const runLines = lines.slice(run.from, run.to);
    const thins = numbered >= MIN_RUN && isNumberedView(lines, run);
    if (thins) out.push(`${MARK}${runLines.length} lines, every fifth numbered]`);
    for (const line of thins ? thin(lines, run) : runLines) out.push(line);
    thinned ||= thins;
    at = run.to;
  }
  const made = out.join('\n');
  return thinned && fillGutter(made) === text ? made : undefined;
}

/**
 * Returns true if the run shows a file. If its numbers could also belong to a table, a list or a
 * mapping, the run must contain a blank or an indented line, have no row of column names above, not
 * have the same number of bars in every line, and no adjacent line may continue the count in
 * another format.
 */
function isNumberedView(lines: readonly string[], { from, to, numbers, column }: Run): boolean {
  const runLines = lines.slice(from, to);
  const above = lines[from - 1];
  if (!AMBIGUOUS_SEPARATOR.test(column.separator)) return isView(runLines, above);
  const rests = runLines.flatMap((line, at) => {
    const number = numbers[at];
    return number === undefined ? [] : [line.slice(prefix(number, column).length)];
  });
  if (!rests.some((rest) => rest === '' || /^\s/.test(rest))) return false;
  // The space after a colon may belong to the line, as with consecutive hits in an indented text.
  if (column.separator === ': ' && rests.every((rest) => /^\s/.test(rest))) return false;
  if (above !== undefined && /\||-\+-/.test(above)) return false;
  const bars = rests[0]!.split('|').length;
  if (bars > 1 && rests.every((rest) => rest.split('|').length === bars)) return false;
  const [first, last] = [numbers[0], numbers.at(-1)];
  return !continuesCount(above, first, -1) && !continuesCount(lines[to], last, 1);
}

/** Returns true if `line` has the number before or after `number`, followed by a separator. */
function continuesCount(line: string | undefined, number: number | undefined, by: -1 | 1): boolean {
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
  return before === undefined || number % SHOWN_MULTIPLES === 0;
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

/**
 * Returns the number of a line: one more than the last, or any number if the previous line had
 * none.
 */
function numberOf(line: string, column: Column, last: number | undefined): number | undefined {
  const number = last === undefined ? readNumber(line)?.number : last + 1;
  return number !== undefined && line.startsWith(prefix(number, column)) ? number : undefined;
}

function prefix(number: number, { lead, width, padding, separator }: Column): string {
  return lead + String(number).padStart(width, padding) + separator;
}

/** Restores all line numbers. A text that was never thinned out is returned unchanged. */
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

/** The lines of a text, split into numbers and contents. */
export interface SplitLines {
  /** The lines without the line-number column of a numbered view. */
  readonly contents: readonly string[];
  /**
   * The number column of each line, restored where it was thinned out; undefined if no line has a
   * number.
   */
  readonly prefixes: readonly string[] | undefined;
}

/** Splits the line numbers off. */
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

/** Returns the lengths of the number columns; undefined if the text is not a numbered view. */
function numberWidths(lines: readonly string[]): readonly number[] | undefined {
  const widths = lineNumbering(lines);
  const first = widths?.findIndex((width) => width > 0) ?? -1;
  const separator = first < 0 ? undefined : readNumber(lines[first]!)?.column.separator;
  // Table rows may look like this, and their ids are not line numbers.
  return separator === undefined || AMBIGUOUS_SEPARATOR.test(separator) ? runWidths(lines) : widths;
}

/** Returns the lines without the line-number column of a numbered view. */
export function lineContents(lines: readonly string[]): readonly string[] {
  return splitNumbers(lines).contents;
}

/** Finds numbered views between other lines, as a client wraps them. */
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

const NOT_THINNED: ThinnedLine = { header: false, missing: '', digits: 0 };

function readThinned(lines: readonly string[]): readonly ThinnedLine[] | undefined {
  // Fast path: nearly every text has none, and this runs once per turn.
  if (!lines.some((line) => line.startsWith(MARK) && HEADER.test(line))) return undefined;
  const out: ThinnedLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    const count = Number(HEADER.exec(lines[at]!)?.[1] ?? 0);
    if (count === 0) {
      out.push(NOT_THINNED);
      continue;
    }
    out.push({ ...NOT_THINNED, header: true });
    for (const line of readBelow(lines.slice(at + 1, at + 1 + count))) out.push(line);
    at += count;
  }
  return out;
}

function readBelow(lines: readonly string[]): readonly ThinnedLine[] {
  const column = readNumber(lines[0] ?? '')?.column;
  if (column === undefined) return lines.map(() => NOT_THINNED);
  let last: number | undefined;
  return lines.map((line) => {
    if (line.startsWith(MARK)) {
      last = undefined;
      return NOT_THINNED;
    }
    const before = last;
    last = before === undefined ? (readNumber(line)?.number ?? 0) : before + 1;
    const ownPrefix = prefix(last, column);
    return isNumbered(before, last)
      ? { ...NOT_THINNED, digits: ownPrefix.length }
      : { ...NOT_THINNED, missing: ownPrefix };
  });
}
