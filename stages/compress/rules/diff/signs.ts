/**
 * Packs the sign column of a diff without loss: for a long run of added or removed lines the sign
 * is written once above them. The lines then read as they do in the file, and match repeats of it.
 *
 *     @@+3            the next three lines are added
 *     const a = 1;
 *
 *     export { a };
 */

import { replaceRanges, runsOf } from '../../text/ranges.ts';

/** Shorter runs keep their signs: small edits are compared line by line. */
const MIN_RUN = 8;
/** Lines that without their sign would look signed or like a header. */
const AMBIGUOUS = /^.(?:[-+\\]|@@|\*\*\* |diff |Index: )/s;
const PACKED = /^@@([+-])(\d{1,7})$/;

/** Legend of packed runs for the reader. */
export const SIGNS_LEGEND = '"@@+9" / "@@-9" = 9 added / removed lines without their sign';

/** Returns true for a line that could be taken for the head of a packed run. */
export function isPackedHeader(line: string): boolean {
  return PACKED.test(line);
}

/** Returns the end of the run whose head is at `at`; undefined if there is none. */
export function packedEnd(lines: readonly string[], at: number): number | undefined {
  const count = PACKED.exec(lines[at]!)?.[2];
  return count === undefined ? undefined : Math.min(lines.length, at + 1 + Number(count));
}

/** Counts the lines in packed runs. */
export function packedLines(text: string): number {
  return text.split('\n').reduce((sum, line) => sum + Number(PACKED.exec(line)?.[2] ?? 0), 0);
}

/** Packs long runs of one sign in the lines of a hunk. */
export function packSigns(lines: readonly string[]): readonly string[] {
  const signOf = (line: string): string | undefined =>
    /^[-+]/.test(line) && !AMBIGUOUS.test(line) ? line[0] : undefined;
  return replaceRanges(lines, runsOf(lines, signOf, MIN_RUN), ({ from, to }) => [
    `@@${lines[from]![0]}${to - from}`,
    ...lines.slice(from, to).map((line) => line.slice(1)),
  ]);
}
