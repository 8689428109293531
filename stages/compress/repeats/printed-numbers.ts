/**
 * The numbers that a view prints before its lines. They differ from a count of the lines if a view
 * begins further down or below a header. "Lines 4 to 20" of such a result would read like lines 4
 * to 20 of its file, so references use the printed numbers.
 */
import { readNumbering, type SplitLines } from './gutter.ts';

/**
 * A line number as agents' editors print it, with nothing after the colon; `splitNumbers` leaves
 * these in place.
 */
const PRINTED = /^(\d{1,7}):/;
/** Lines that merely begin with a number rarely rise by one this many times in a row. */
const MIN_RUN = 3;

/**
 * Returns the number before every line, NaN where there is none; undefined if no numbers rise, or
 * where a number occurs twice and so identifies no line.
 */
export function printedNumbers({ contents, prefixes }: SplitLines): readonly number[] | undefined {
  const numbers = contents.map((line, at) => numberBefore(line, prefixes?.[at] ?? ''));
  let last = Number.NEGATIVE_INFINITY;
  let isFound = false;
  for (let at = 0; at < numbers.length;) {
    let end = at + 1;
    while (numbers[end] === numbers[at]! + end - at) end++;
    if (end - at < MIN_RUN) numbers.fill(Number.NaN, at, end);
    else if (numbers[at]! <= last) return undefined;
    else {
      last = numbers[end - 1]!;
      isFound = true;
    }
    at = end;
  }
  return isFound ? numbers : undefined;
}

function numberBefore(line: string, prefix: string): number {
  if (prefix !== '') return readNumbering(prefix)?.first ?? Number.NaN;
  return Number(PRINTED.exec(line)?.[1] ?? Number.NaN);
}
