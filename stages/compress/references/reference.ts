/** The wording of references to lines that went out before, the way back, and the numbers that they use. */
import { readRepeated } from '../text/repeats.ts';
import { MARK, readOmitted } from '../text/marker.ts';
import { readNumbering, type Numbering } from './gutter.ts';

/**
 * How much a reference says: the first of a conversation is a sentence, the others name the
 * text. None is a number alone: what stood 100 messages ago is found by its file or command.
 *
 *     [svc lines 10–19 of result 7 (a.ts) again]    full
 *     [svc result 8 (b.ts):20-29]                   named
 */
export type Words = 'full' | 'named';

/**
 * What stands before the lines: what did where they stood (`same`), nothing though they had
 * numbers there, or a number, of which that of the first is written as it is printed.
 */
export type Numbers = 'same' | 'none' | { readonly first: string };

function numbersInWords(numbers: Numbers): string {
  if (numbers === 'same') return '';
  return numbers === 'none' ? ', without numbers' : `, numbered from "${numbers.first}"`;
}

/** The reference to lines `from` to `to`, counted from 1. */
export function writeReference(
  label: string,
  { from, to }: { readonly from: number; readonly to: number },
  words: Words,
  how: Numbers,
): string {
  const numbers = numbersInWords(how);
  if (words === 'full') {
    const where = from === to ? `line ${from}` : `lines ${from}–${to}`;
    return `${MARK}${where} of ${label} again${numbers}]`;
  }
  return `${MARK}${label}:${from === to ? from : `${from}-${to}`}${numbers}]`;
}

const NUMBERS = '(?:, numbered from "(?<first>[^"]+)"|(?<none>, without numbers))?\\]$';
const FULL = new RegExp(
  `^\\[svc lines? (?<from>\\d+)(?:–(?<to>\\d+))? of (?<label>.+) again${NUMBERS}`,
  's',
);
const SHORT = new RegExp(`^\\[svc (?<label>.+):(?<from>\\d+)(?:-(?<to>\\d+))?${NUMBERS}`, 's');

/** What a reference names: lines `from` to `to`, counted from 1, and what stands before them. */
export interface Reference {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly numbers: 'same' | 'none' | Numbering;
}

/** What a line refers to; undefined where it is no reference. */
export function readReference(line: string): Reference | undefined {
  const groups = line.startsWith(MARK) ? (FULL.exec(line) ?? SHORT.exec(line))?.groups : undefined;
  if (groups === undefined) return undefined;
  const { label, from, to, first, none } = groups;
  const numbers =
    first === undefined ? (none === undefined ? 'same' : 'none') : readNumbering(first);
  if (numbers === undefined) return undefined;
  return { label: label!, from: Number(from), to: Number(to ?? from), numbers };
}

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
