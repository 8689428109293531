/** Equal lines in a row, written as one line and a count. */
import { MARK } from './marker.ts';
import { replaceRanges, runsOf } from './ranges.ts';

const MIN_RUN = 3;
const MIN_BLANK_RUN = 21;

/** A text with runs of equal lines as one and a count; nothing is lost (`unfoldRepeats`). */
export function foldRepeats(lines: readonly string[]): string {
  const runs = runsOf(lines, (line) => line, MIN_RUN).filter(
    ({ from, to }) => lines[from]!.trim() !== '' || to - from >= MIN_BLANK_RUN,
  );
  return replaceRanges(lines, runs, ({ from, to }) => [lines[from]!, repeated(to - from - 1)]).join(
    '\n',
  );
}

/** The line that stands for so many more of the line above. */
export function repeated(times: number): string {
  return `${MARK}the line above ${times} more times]`;
}

const REPEATED = /^\[svc the line above (\d+) more times\]$/;

/** How many more times a line says that the line above stood there; undefined where it says something else. */
export function readRepeated(line: string): number | undefined {
  const times = line.startsWith(MARK) ? REPEATED.exec(line)?.[1] : undefined;
  return times === undefined ? undefined : Number(times);
}

/** The indexes of counts and of the lines that they count: with another line between, that would be counted. */
export function countedLines(lines: readonly string[]): readonly number[] {
  return lines.flatMap((line, at) => (readRepeated(line) === undefined ? [] : [at - 1, at]));
}
