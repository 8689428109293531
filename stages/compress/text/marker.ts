/**
 * The wording of markers. A marker states how much is missing and where, and that the source itself
 * is complete: models have mistaken vaguer wording for file corruption.
 */
import type { LineRange } from '../rules/rule.ts';
import { rangesWithout, replaceRanges } from './ranges.ts';

/** Prefix of every marker and every header of an encoding. */
export const MARK = '[svc ';

const MARKER = /^(?<opener>(?:#|\/\/|\/\*) )?\[svc /;

/**
 * Returns the form of a marker line: plain, or as a comment in source code. Undefined if it is
 * none.
 */
export function markerIn(line: string): 'text' | 'comment' | undefined {
  const match = MARKER.exec(line);
  if (match === null) return undefined;
  return match.groups?.['opener'] === undefined ? 'text' : 'comment';
}

/** `[svc omitted 412 of 460 lines here (lines 13–424); the source is complete]` */
export function omissionMarker(range: LineRange, total: number): string {
  const count = range.to - range.from;
  const where = count === 1 ? `line ${range.from + 1}` : `lines ${range.from + 1}–${range.to}`;
  return `${MARK}omitted ${count} of ${total} lines here (${where}); the source is complete]`;
}

/**
 * Returns the shorter marker for later gaps of the same text; the first one states that the source
 * is complete.
 */
export function laterOmissionMarker(range: LineRange): string {
  const count = range.to - range.from;
  return count === 1
    ? `${MARK}omitted line ${range.from + 1}]`
    : `${MARK}omitted lines ${range.from + 1}–${range.to}]`;
}

const OMISSION =
  /^\[svc omitted (?:\d+ of \d+ lines here \(lines? (\d+)(?:–(\d+))?\); the source is complete|lines? (\d+)(?:–(\d+))?)\]$/;

/** Returns the lines that a marker reports as missing; undefined if the line is not a marker. */
export function readOmission(line: string): LineRange | undefined {
  const match = line.startsWith(MARK) ? OMISSION.exec(line) : null;
  if (match === null) return undefined;
  const first = Number(match[1] ?? match[3]);
  return { from: first - 1, to: Number(match[2] ?? match[4] ?? first) };
}

/**
 * Joins the kept lines with markers in the gaps; `keep[i]` says whether line i is kept. Single
 * blank lines are not announced.
 */
export function joinKept(
  lines: readonly string[],
  keep: readonly boolean[],
): { readonly text: string; readonly removed: readonly LineRange[] } {
  const removed = rangesWithout(lines.map((_, at) => keep[at] === true)).filter(
    ({ from, to }) => from === 0 || to - from > 1 || lines[from]!.trim() !== '',
  );
  const shown = replaceRanges(lines, removed, (gap, nth) => [
    nth === 0 ? omissionMarker(gap, lines.length) : laterOmissionMarker(gap),
  ]);
  return { text: shown.join('\n'), removed };
}
