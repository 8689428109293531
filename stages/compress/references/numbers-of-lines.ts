/** The numbers of a text's lines as a reader of it counts them who believes its markers. */
import { readRepeated } from '../log/clean.ts';
import { MARK, readOmitted } from '../text/marker.ts';
import { readReference } from './reference.ts';

/**
 * For every line its number, counted from `before` + 1. Markers stand for the lines that
 * they name, notes and headers of ours for none; both have the number of what comes next.
 */
export function numbersOfLines(lines: readonly string[], before = 0): readonly number[] {
  let next = before + 1;
  return lines.map((line) => {
    if (!line.startsWith(MARK)) return next++;
    const omitted = readOmitted(line);
    const reference = readReference(line);
    if (omitted !== undefined) next = omitted.to + 1;
    else if (reference !== undefined) next += reference.to - reference.from + 1;
    else next += readRepeated(line) ?? 0;
    return next;
  });
}
