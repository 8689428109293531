/**
 * The wording of what we leave behind. A marker names how much is missing and where, and
 * that the source itself is whole: readers have taken vaguer wording for file corruption.
 */
import type { LineRange } from '../rules/rule.ts';
import { rangesWithout, replaceRanges } from './ranges.ts';

/** How every marker and every header of an encoding begins. */
export const MARK = '[svc ';

const MARKER = /^(?<opener>(?:#|\/\/|\/\*) )?\[svc /;

/** How a line is a marker of ours: by itself, or in source code as a comment. Undefined where it is none. */
export function markerIn(line: string): 'text' | 'comment' | undefined {
  const match = MARKER.exec(line);
  if (match === null) return undefined;
  return match.groups?.['opener'] === undefined ? 'text' : 'comment';
}

/** `[svc omitted 412 of 460 lines here (lines 13–424); the source is complete]` */
export function omitted(range: LineRange, total: number): string {
  const count = range.to - range.from;
  const where = count === 1 ? `line ${range.from + 1}` : `lines ${range.from + 1}–${range.to}`;
  return `${MARK}omitted ${count} of ${total} lines here (${where}); the source is complete]`;
}

/** The shorter form that later gaps of the same text carry: the first states that the source is complete. */
export function omittedMore(range: LineRange): string {
  const count = range.to - range.from;
  return count === 1
    ? `${MARK}omitted line ${range.from + 1}]`
    : `${MARK}omitted lines ${range.from + 1}–${range.to}]`;
}

const OMITTED =
  /^\[svc omitted (?:\d+ of \d+ lines here \(lines? (\d+)(?:–(\d+))?\); the source is complete|lines? (\d+)(?:–(\d+))?)\]$/;

/** The lines that a marker says are missing; undefined where the line is none. */
export function readOmitted(line: string): LineRange | undefined {
  const match = line.startsWith(MARK) ? OMITTED.exec(line) : null;
  if (match === null) return undefined;
  const first = Number(match[1] ?? match[3]);
  return { from: first - 1, to: Number(match[2] ?? match[4] ?? first) };
}

/** Puts markers where lines are missing; `keep[i]` says whether line i stays. Single blank lines go unannounced. */
export function joinKept(
  lines: readonly string[],
  keep: readonly boolean[],
): { readonly text: string; readonly removed: readonly LineRange[] } {
  const removed = rangesWithout(lines.map((_, at) => keep[at] === true)).filter(
    ({ from, to }) => from === 0 || to - from > 1 || lines[from]!.trim() !== '',
  );
  const shown = replaceRanges(lines, removed, (gap, nth) => [
    nth === 0 ? omitted(gap, lines.length) : omittedMore(gap),
  ]);
  return { text: shown.join('\n'), removed };
}
