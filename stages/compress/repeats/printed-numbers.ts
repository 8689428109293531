/**
 * The numbers that a view prints before its lines. Where they are not what a count of the lines
 * gives, because a view begins further down or below a header, a reader takes lines 4 to 20 of a
 * result that names a file for lines 4 to 20 of that file: then a reference names what is printed.
 */
import { readNumbering, type SplitLines } from './gutter.ts';

/** A number before a line as editors for agents print it, with nothing behind the colon: no view that is cut off. */
const PRINTED = /^(\d{1,7}):/;
/** Lines that happen to begin with a number count up by one less often than so many times. */
const MIN_RUN = 3;

/**
 * For every line the number before it, NaN where there is none; undefined where no lines count
 * up, or where a number stands twice, so that it names no line.
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
