/**
 * The wording of what we leave behind. A marker names how much is missing and where, and
 * that the source itself is whole: readers have taken vaguer wording for file corruption.
 */
import type { LineRange } from '../rule.ts';

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
export function omitted(range: LineRange, total: number, what = 'lines'): string {
  const count = range.to - range.from;
  const where = count === 1 ? `line ${range.from + 1}` : `lines ${range.from + 1}–${range.to}`;
  return `${MARK}omitted ${count} of ${total} ${what} here (${where}); the source is complete]`;
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

/** The lines of all ranges, counted from 0. */
export function linesIn(ranges: readonly LineRange[]): ReadonlySet<number> {
  const lines = new Set<number>();
  for (const { from, to } of ranges) for (let at = from; at < to; at++) lines.add(at);
  return lines;
}

/** Puts markers where lines are missing; `keep[i]` says whether line i stays. Single blank lines go unannounced. */
export function joinKept(
  lines: readonly string[],
  keep: readonly boolean[],
): { readonly text: string; readonly removed: readonly LineRange[] } {
  const out: string[] = [];
  const removed: LineRange[] = [];
  for (let index = 0; index < lines.length;) {
    if (keep[index] === true) {
      out.push(lines[index]!);
      index++;
      continue;
    }
    const from = index;
    while (index < lines.length && keep[index] !== true) index++;
    const range = { from, to: index };
    if (index - from === 1 && lines[from]!.trim() === '' && from > 0) {
      out.push(lines[from]!);
      continue;
    }
    out.push(removed.length === 0 ? omitted(range, lines.length) : omittedMore(range));
    removed.push(range);
  }
  return { text: out.join('\n'), removed };
}

/** The lines that do not stay; `keep[i]` says whether line i does. */
export function rangesWithout(keep: readonly boolean[]): readonly LineRange[] {
  const ranges: { from: number; to: number }[] = [];
  keep.forEach((stays, at) => {
    const last = ranges.at(-1);
    if (stays) return;
    if (last?.to === at) last.to = at + 1;
    else ranges.push({ from: at, to: at + 1 });
  });
  return ranges;
}
