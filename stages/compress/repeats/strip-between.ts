/**
 * Drops comments between the references of a text. For code that was seen in part, references save
 * more than dropping comments does, so the two are done separately.
 */
import { MARK, markerIn } from '../text/marker.ts';
import { linesIn, rangesWithout } from '../text/ranges.ts';
import type { Compressed, LineRange } from '../rules/rule.ts';
import type { TextWithReferences } from './repeats.ts';

/** The note that says how many lines of a text are left out. */
const OMISSION_NOTE = /omitted \d+ of/;

/**
 * Returns the text with references, each line of which stands for as many lines as `covers` says,
 * without those lines of `removed` that no reference covers. `stripped` is the same text with all
 * of `removed` dropped and a note that says so; undefined if it has no note, or nothing is left to
 * drop. Lines are counted from 0.
 */
export function stripBetween(
  { text: named, covers }: Pick<TextWithReferences, 'text' | 'covers'>,
  stripped: string,
  removed: readonly LineRange[],
): Compressed | undefined {
  const removedLines = linesIn(removed);
  const out: string[] = [];
  const keep: boolean[] = [];
  let firstReference = Number.POSITIVE_INFINITY;
  for (const [at, line] of named.split('\n').entries()) {
    const covered = covers[at] ?? 1;
    if (line.startsWith(MARK)) {
      firstReference = Math.min(firstReference, out.length);
      for (let nth = 0; nth < covered; nth++) keep.push(true);
    } else keep.push(!removedLines.has(keep.length));
    if (keep.at(-1) === true) out.push(line);
  }
  const dropped = keep.filter((stays) => !stays).length;
  const lines = stripped.split('\n');
  const noteAt = lines.findIndex(
    (line) => markerIn(line) !== undefined && OMISSION_NOTE.test(line),
  );
  if (noteAt < 0 || dropped < 2) return undefined;
  const note = lines[noteAt]!.replace(OMISSION_NOTE, `omitted ${dropped} of`);
  out.splice(Math.min(noteAt, firstReference), 0, note);
  return { text: out.join('\n'), removed: rangesWithout(keep) };
}
