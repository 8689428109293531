/**
 * The first column of a diff, lossless: where many lines in a row are added, or removed,
 * that is written once above them. The lines then read, and are recognised again, as they
 * stand in the file.
 *
 *     @@+3            the next three lines are added
 *     const a = 1;
 *
 *     export { a };
 */

import { replaceRanges, runsOf } from '../../text/ranges.ts';

/** Shorter runs keep their signs: small edits are read line against line. */
const MIN_RUN = 8;
/** Lines that without their sign would seem to have one, or to be a header. */
const AMBIGUOUS = /^.(?:[-+\\]|@@|\*\*\* |diff |Index: )/s;
const PACKED = /^@@([+-])(\d{1,7})$/;

/** How a packed run is explained to a reader. */
export const SIGNS_LEGEND = '"@@+9" / "@@-9" = 9 added / removed lines without their sign';

/** True for a line that could be taken for the head of a packed run. */
export function isPackedHeader(line: string): boolean {
  return PACKED.test(line);
}

/** Where the run ends whose head stands at `at`; undefined where none does. */
export function packedEnd(lines: readonly string[], at: number): number | undefined {
  const count = PACKED.exec(lines[at]!)?.[2];
  return count === undefined ? undefined : Math.min(lines.length, at + 1 + Number(count));
}

/** How many lines stand in packed runs. */
export function packedLines(text: string): number {
  return text.split('\n').reduce((sum, line) => sum + Number(PACKED.exec(line)?.[2] ?? 0), 0);
}

/** Lines of a hunk, with long runs of one sign packed. */
export function packSigns(lines: readonly string[]): readonly string[] {
  const signOf = (line: string): string | undefined =>
    /^[-+]/.test(line) && !AMBIGUOUS.test(line) ? line[0] : undefined;
  return replaceRanges(lines, runsOf(lines, signOf, MIN_RUN), ({ from, to }) => [
    `@@${lines[from]![0]}${to - from}`,
    ...lines.slice(from, to).map((line) => line.slice(1)),
  ]);
}
