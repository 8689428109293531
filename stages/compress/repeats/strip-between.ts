/**
 * A text whose repeats are named, without the comments between them: of code that was seen in
 * part, what is named saves more than what is taken out of it, so both are done apart.
 */
import { MARK, markerIn } from '../text/marker.ts';
import { linesIn, rangesWithout } from '../text/ranges.ts';
import type { Compressed, LineRange } from '../rules/rule.ts';
import type { Referred } from './repeats.ts';

/** The note by which a text says how many of its lines are left out. */
const OMITTED = /omitted \d+ of/;

/**
 * The text with references, of which each line stands for so many as `covers` says, without those
 * lines of `removed` that no reference names. `stripped` is the same text with all of `removed` taken out, which says so in a note of its
 * own; undefined where it has none, or nothing is left to take out. Lines are counted from 0.
 */
export function stripBetween(
  { text: named, covers }: Pick<Referred, 'text' | 'covers'>,
  stripped: string,
  removed: readonly LineRange[],
): Compressed | undefined {
  const gone = linesIn(removed);
  const out: string[] = [];
  const keep: boolean[] = [];
  let firstReference = Number.POSITIVE_INFINITY;
  for (const [at, line] of named.split('\n').entries()) {
    const covered = covers[at] ?? 1;
    if (line.startsWith(MARK)) {
      firstReference = Math.min(firstReference, out.length);
      for (let nth = 0; nth < covered; nth++) keep.push(true);
    } else keep.push(!gone.has(keep.length));
    if (keep.at(-1) === true) out.push(line);
  }
  const dropped = keep.filter((stays) => !stays).length;
  const lines = stripped.split('\n');
  const noteAt = lines.findIndex((line) => markerIn(line) !== undefined && OMITTED.test(line));
  if (noteAt < 0 || dropped < 2) return undefined;
  const note = lines[noteAt]!.replace(OMITTED, `omitted ${dropped} of`);
  out.splice(Math.min(noteAt, firstReference), 0, note);
  return { text: out.join('\n'), removed: rangesWithout(keep) };
}
