/**
 * Maps the lines that are sent to their line numbers in the original text, and determines which of
 * them a reader can find by counting: markers say how many lines are missing, other forms do not.
 */
import { lineContents } from './gutter.ts';
import { readRepeatCount } from '../text/repeats.ts';
import { MARK, markerIn, readOmission } from '../text/marker.ts';
import { linesIn } from '../text/ranges.ts';
import { numbersOfLines, readReference } from './reference.ts';
import type { LineRange } from '../rules/rule.ts';

/** Lines left out of the original; `before` lines of the block precede it. */
interface Omission {
  readonly removed: readonly LineRange[];
  readonly before: number;
}

/**
 * Returns for every line of `text` the number of the equal line of `original`, the first being
 * `before` + 1; NaN for a line that is not in it, markers included. Numbers rise.
 */
export function originsOf(
  original: string,
  text: string,
  { removed, before }: Omission,
): readonly number[] {
  const numbers = numbersOf(lineContents(original.split('\n')), removed, before);
  const raw = text.split('\n');
  let next = before;
  return lineContents(raw).map((content, at) => {
    const line = raw[at]!;
    if (line.startsWith(MARK) || markerIn(line) !== undefined) {
      next = numberAfterMarker(line, next);
      return Number.NaN;
    }
    const number = firstFrom(numbers.get(content), next);
    if (number === undefined) return Number.NaN;
    next = number + 1;
    return next;
  });
}

/**
 * Returns the same numbers, but NaN also for a line at which a reader who counts by the markers
 * arrives at another number: a reference to it would be misleading.
 */
export function countedOrigins(
  original: string,
  text: string,
  leftOut: Omission,
): readonly number[] {
  const counted = numbersOfLines(text.split('\n'), leftOut.before);
  return originsOf(original, text, leftOut).map((number, at) =>
    number === counted[at] ? number : Number.NaN,
  );
}

/**
 * Returns for every line of `original` the number a reader reaches by counting the lines of `text`
 * and its markers; NaN for lines that are missing.
 */
export function countedNumbers(
  original: string,
  text: string,
  removed: readonly LineRange[],
): readonly number[] {
  const counted = numbersOfLines(text.split('\n'));
  const found = original.split('\n').map(() => Number.NaN);
  originsOf(original, text, { removed, before: 0 }).forEach((number, at) => {
    if (!Number.isNaN(number)) found[number - 1] = counted[at]!;
  });
  return found;
}

/** Maps each line's content to the ascending indexes at which it was not left out. */
function numbersOf(
  lines: readonly string[],
  removed: readonly LineRange[],
  before: number,
): ReadonlyMap<string, readonly number[]> {
  const removedLines = linesIn(removed);
  const numbers = new Map<string, number[]>();
  lines.forEach((line, at) => {
    if (removedLines.has(at + before)) return;
    const known = numbers.get(line);
    if (known === undefined) numbers.set(line, [at + before]);
    else known.push(at + before);
  });
  return numbers;
}

function numberAfterMarker(marker: string, next: number): number {
  const omitted = readOmission(marker);
  if (omitted !== undefined) return Math.max(next, omitted.to);
  const reference = readReference(marker);
  if (reference !== undefined) return next + reference.to - reference.from + 1;
  return next + (readRepeatCount(marker) ?? 0);
}

/** Returns the first of ascending numbers that is at least `min`, by binary search. */
function firstFrom(rising: readonly number[] | undefined, min: number): number | undefined {
  if (rising === undefined) return undefined;
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! < min) low = middle + 1;
    else high = middle;
  }
  return rising[low];
}
