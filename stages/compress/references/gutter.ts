/**
 * The line-number column of a numbered view of a file, lossless: numbers count up by one,
 * so the first and every fifth say it all. The lines themselves stay as they are, and a
 * reader is never more than four lines from a number.
 */
import { isView, lineNumbering } from '../../model/classify/envelope.ts';
import { MARK } from '../text/marker.ts';

/** Shorter runs of numbered lines are left alone. */
const MIN_RUN = 8;
/** Numbers that are multiples of this are shown. */
const SHOWN = 5;
/**
 * As `cat -n`, `nl` and most agents' viewers print it. Views with a colon are left alone:
 * the editors that go with them take line numbers.
 */
const NUMBERED = /^( {0,8}\d{1,7})(\t|→)/;
const ANY_NUMBERED = /(?:^|\n) {0,8}\d{1,7}[\t→]/;
const HEADER = /^\[svc (\d{1,7}) lines, every fifth numbered\]$/;

/** How the numbers of one view are printed: padded on the left to `width`, then the separator. */
interface Column {
  readonly width: number;
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
    const thins = numbered >= MIN_RUN && isView(own, lines[run.from - 1]);
    if (thins) out.push(`${MARK}${own.length} lines, every fifth numbered]`);
    for (const line of thins ? thin(lines, run) : own) out.push(line);
    thinned ||= thins;
    at = run.to;
  }
  const made = out.join('\n');
  return thinned && fillGutter(made) === text ? made : undefined;
}

function thin(lines: readonly string[], { from, numbers, column }: Run): readonly string[] {
  return numbers.map((number, at) => {
    const line = lines[from + at]!;
    if (number === undefined) return line;
    return isShown(numbers[at - 1], number) ? line : line.slice(prefix(number, column).length);
  });
}

function isShown(before: number | undefined, number: number): boolean {
  return before === undefined || number % SHOWN === 0;
}

function readRun(lines: readonly string[], from: number): Run | undefined {
  const match = NUMBERED.exec(lines[from]!);
  if (match === null) return undefined;
  const column = { width: match[1]!.length, separator: match[2]! };
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
  const number = last === undefined ? Number(NUMBERED.exec(line)?.[1] ?? Number.NaN) : last + 1;
  return line.startsWith(prefix(number, column)) ? number : undefined;
}

function prefix(number: number, { width, separator }: Column): string {
  return String(number).padStart(width) + separator;
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

/** Length of the line number that each line shows, whole or thinned out; undefined where the text has none. */
export function numberWidths(lines: readonly string[]): readonly number[] | undefined {
  const thinned = readThinned(lines);
  if (thinned !== undefined) return thinned.map(({ shown }) => shown);
  return lineNumbering(lines) ?? runWidths(lines);
}

/** Lines without the line-number column of a numbered view. */
export function lineContents(lines: readonly string[]): readonly string[] {
  const widths = numberWidths(lines);
  return widths === undefined ? lines : lines.map((line, at) => line.slice(widths[at]));
}

/** A numbered view between lines that are none of it, as a harness wraps them. */
function runWidths(lines: readonly string[]): readonly number[] | undefined {
  const widths = lines.map(() => 0);
  let found = false;
  for (let at = 0; at < lines.length;) {
    const run = readRun(lines, at);
    if (
      run !== undefined &&
      run.numbers.length >= MIN_RUN &&
      isView(lines.slice(run.from, run.to), lines[run.from - 1])
    ) {
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
  readonly shown: number;
}

const PLAIN: ThinnedLine = { header: false, missing: '', shown: 0 };

function readThinned(lines: readonly string[]): readonly ThinnedLine[] | undefined {
  const out: ThinnedLine[] = [];
  let found = false;
  for (let at = 0; at < lines.length; at++) {
    const count = Number(HEADER.exec(lines[at]!)?.[1] ?? 0);
    if (count === 0) {
      out.push(PLAIN);
      continue;
    }
    found = true;
    out.push({ ...PLAIN, header: true });
    for (const line of readBelow(lines.slice(at + 1, at + 1 + count))) out.push(line);
    at += count;
  }
  return found ? out : undefined;
}

function readBelow(lines: readonly string[]): readonly ThinnedLine[] {
  const match = NUMBERED.exec(lines[0] ?? '');
  if (match === null) return lines.map(() => PLAIN);
  const column = { width: match[1]!.length, separator: match[2]! };
  let last: number | undefined;
  return lines.map((line) => {
    if (line.startsWith(MARK)) {
      last = undefined;
      return PLAIN;
    }
    const before = last;
    last = before === undefined ? Number(NUMBERED.exec(line)?.[1] ?? 0) : before + 1;
    const own = prefix(last, column);
    return isShown(before, last) ? { ...PLAIN, shown: own.length } : { ...PLAIN, missing: own };
  });
}
