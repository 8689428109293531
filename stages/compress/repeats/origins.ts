/**
 * Where the lines that go out stood in the text that came, and which of them a reader finds by that
 * number in what was sent: markers say how many lines are missing, other forms do not.
 */
import { lineContents } from './gutter.ts';
import { readRepeated } from '../text/repeats.ts';
import { MARK, markerIn, readOmitted } from '../text/marker.ts';
import { linesIn } from '../text/ranges.ts';
import { numbersOfLines, readReference } from './reference.ts';
import type { LineRange } from '../rules/rule.ts';

/** Before the first line of the original, as a block has it, stand so many others. */
interface LeftOut {
  readonly removed: readonly LineRange[];
  readonly before: number;
}

/**
 * For every line of `text` the number, counted from `before` + 1, of a line of `original`
 * that says the same; NaN for what is no line of it, markers among them. Numbers rise.
 */
export function originsOf(
  original: string,
  text: string,
  { removed, before }: LeftOut,
): readonly number[] {
  const numbers = numbersOf(lineContents(original.split('\n')), removed, before);
  const raw = text.split('\n');
  let next = before;
  return lineContents(raw).map((content, at) => {
    const line = raw[at]!;
    if (line.startsWith(MARK) || markerIn(line) !== undefined) {
      next = behindMarker(line, next);
      return Number.NaN;
    }
    const number = firstFrom(numbers.get(content), next);
    if (number === undefined) return Number.NaN;
    next = number + 1;
    return next;
  });
}

/**
 * The same, NaN as well for a line at which a reader arrives at another number who counts what was
 * sent, by its markers: a reference to it would be a riddle.
 */
export function countedOrigins(
  original: string,
  text: string,
  leftOut: LeftOut,
): readonly number[] {
  const counted = numbersOfLines(text.split('\n'), leftOut.before);
  return originsOf(original, text, leftOut).map((number, at) =>
    number === counted[at] ? number : Number.NaN,
  );
}

/**
 * For every line of `original` the number at which a reader finds it who counts the lines of `text`,
 * by its markers; NaN for those that are not there.
 */
export function countedIn(
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

/** By content, the places of the lines that were not left out, rising. */
function numbersOf(
  lines: readonly string[],
  removed: readonly LineRange[],
  before: number,
): ReadonlyMap<string, readonly number[]> {
  const gone = linesIn(removed);
  const numbers = new Map<string, number[]>();
  lines.forEach((line, at) => {
    if (gone.has(at + before)) return;
    const known = numbers.get(line);
    if (known === undefined) numbers.set(line, [at + before]);
    else known.push(at + before);
  });
  return numbers;
}

function behindMarker(marker: string, next: number): number {
  const omitted = readOmitted(marker);
  if (omitted !== undefined) return Math.max(next, omitted.to);
  const reference = readReference(marker);
  if (reference !== undefined) return next + reference.to - reference.from + 1;
  return next + (readRepeated(marker) ?? 0);
}

/** The first of rising numbers that is at least `least`, by halving. */
function firstFrom(rising: readonly number[] | undefined, least: number): number | undefined {
  if (rising === undefined) return undefined;
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return rising[low];
}
