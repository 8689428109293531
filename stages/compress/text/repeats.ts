/** Folding of runs of equal lines into one line and a count. */
import { MARK } from './marker.ts';
import { replaceRanges, runsOf } from './ranges.ts';

const MIN_RUN = 3;
const MIN_BLANK_RUN = 21;

/** Folds runs of equal lines into one and a count; lossless (`unfoldRepeats`). */
export function foldRepeats(lines: readonly string[]): string {
  const runs = runsOf(lines, (line) => line, MIN_RUN).filter(
    ({ from, to }) => lines[from]!.trim() !== '' || to - from >= MIN_BLANK_RUN,
  );
  return replaceRanges(lines, runs, ({ from, to }) => [
    lines[from]!,
    repeatCount(to - from - 1),
  ]).join('\n');
}

/** Returns the line that stands for `times` more copies of the line above. */
export function repeatCount(times: number): string {
  return `${MARK}the line above ${times} more times]`;
}

const REPEAT_COUNT = /^\[svc the line above (\d+) more times\]$/;

/**
 * Returns the number of further copies that a line stands for; undefined if it is not a repeat
 * count.
 */
export function readRepeatCount(line: string): number | undefined {
  const times = line.startsWith(MARK) ? REPEAT_COUNT.exec(line)?.[1] : undefined;
  return times === undefined ? undefined : Number(times);
}

/** Returns the indexes of repeat counts and of the lines they count, which must stay adjacent. */
export function countedLines(lines: readonly string[]): readonly number[] {
  return lines.flatMap((line, at) => (readRepeatCount(line) === undefined ? [] : [at - 1, at]));
}
