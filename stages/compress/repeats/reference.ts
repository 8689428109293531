/** The wording of references to lines sent before, their parser, and the line numbers they use. */
import { readRepeatCount } from '../text/repeats.ts';
import { MARK, readOmission } from '../text/marker.ts';
import { readNumbering, type Numbering } from './gutter.ts';

/**
 * Wording of a reference: the first of a conversation is a sentence, the others name the text. None
 * is a bare number: a text 100 messages back is found by its file or command.
 *
 *     [svc lines 10–19 of result 7 (a.ts) again]    full
 *     [svc result 8 (b.ts), lines 20-29]            named
 */
export type Wording = 'full' | 'named';

/**
 * Lines `from` to `to` of a text, inclusive, counted from 1 or by the numbers printed before them.
 */
export interface NamedLines {
  readonly from: number;
  readonly to: number;
  readonly by: 'count' | 'printed';
}

/**
 * The number column of the referenced lines: as at the target (`same`), none although the target
 * has one, or other numbers, given by the first one as printed.
 */
export type Numbers = 'same' | 'none' | { readonly first: string };

function numbersText(numbers: Numbers, by: NamedLines['by']): string {
  if (numbers === 'same') return '';
  const here = by === 'printed' ? 'here ' : '';
  return numbers === 'none'
    ? `, ${here}without numbers`
    : `, ${here}numbered from "${numbers.first}"`;
}

/** Writes a reference to lines of a text. */
export function writeReference(
  label: string,
  { from, to, by }: NamedLines,
  wording: Wording,
  numbering: Numbers,
): string {
  const numbers = numbersText(numbering, by);
  const [lines, of] = by === 'printed' ? ['numbered ', 'in'] : ['', 'of'];
  const unit = from === to ? 'line' : 'lines';
  if (wording === 'full') {
    const range = from === to ? from : `${from}–${to}`;
    return `${MARK}${unit} ${lines}${range} ${of} ${label} again${numbers}]`;
  }
  const range = from === to ? from : `${from}-${to}`;
  return `${MARK}${label}, ${lines || `${unit} `}${range}${numbers}]`;
}

const NUMBERS_SUFFIX =
  '(?:, (?:here )?numbered from "(?<first>[^"]+)"|(?<none>, (?:here )?without numbers))?\\]$';
const FULL = new RegExp(
  `^\\[svc lines? (?<printed>numbered )?(?<from>\\d+)(?:–(?<to>\\d+))? (?:of|in) (?<label>.+) again${NUMBERS_SUFFIX}`,
  's',
);
const SHORT = new RegExp(
  `^\\[svc (?<label>.+), (?:lines? |(?<printed>numbered ))(?<from>\\d+)(?:-(?<to>\\d+))?${NUMBERS_SUFFIX}`,
  's',
);

/** A parsed reference: the lines it names, and their number column. */
export interface Reference extends NamedLines {
  readonly label: string;
  readonly numbers: 'same' | 'none' | Numbering;
}

/** Parses a reference; undefined if the line is not a reference. */
export function readReference(line: string): Reference | undefined {
  const groups = line.startsWith(MARK) ? (FULL.exec(line) ?? SHORT.exec(line))?.groups : undefined;
  if (groups === undefined) return undefined;
  const { label, printed, from, to, first, none } = groups;
  const numbers =
    first === undefined ? (none === undefined ? 'same' : 'none') : readNumbering(first);
  if (numbers === undefined) return undefined;
  const by = printed === undefined ? 'count' : 'printed';
  return { label: label!, from: Number(from), to: Number(to ?? from), by, numbers };
}

/**
 * Returns the number of every line, the first being `before` + 1. A marker counts for the lines
 * that it stands for, notes and headers of svc for none; both get the number of the next line.
 */
export function numbersOfLines(lines: readonly string[], before = 0): readonly number[] {
  let next = before + 1;
  return lines.map((line) => {
    if (!line.startsWith(MARK)) return next++;
    const omitted = readOmission(line);
    const reference = readReference(line);
    if (omitted !== undefined) next = omitted.to + 1;
    else if (reference !== undefined) next += reference.to - reference.from + 1;
    else next += readRepeatCount(line) ?? 0;
    return next;
  });
}
