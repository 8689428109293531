/** The lines of a text while a recipe processes them, and how they are rendered as text again. */
import type { Compressed, LineRange } from '../rules/rule.ts';
import { MARK, omissionMarker, laterOmissionMarker } from '../text/marker.ts';
import { linesIn, rangesWithout, runsOf } from '../text/ranges.ts';

/** One line. */
export interface Row {
  readonly text: string;
  /** Its index in the input, from 0; undefined for a line that an operation wrote. */
  readonly at?: number;
  /** Other input lines recoverable from this one, such as the repeats it counts. */
  readonly covers?: readonly number[];
  /** True for a line that no operation may drop or change. */
  readonly isProtected?: boolean;
}

/** How much an operation may lose: nothing, whole lines, or parts of lines too. */
export type Loss = 'none' | 'lines' | 'text';

/** Keeps the rows that fit, protected rows, and rows that an operation wrote. */
export function keepRows(
  rows: readonly Row[],
  fits: (row: Row, index: number) => boolean,
): readonly Row[] {
  return rows.filter((row, index) => {
    // Called for every row, as the result may depend on the rows before.
    const isFitting = fits(row, index);
    return isFitting || row.isProtected === true || row.at === undefined;
  });
}

/** Keeps the rows outside `ranges`, and the same exceptions. */
export function withoutRanges(rows: readonly Row[], ranges: readonly LineRange[]): readonly Row[] {
  const gone = linesIn(ranges);
  return keepRows(rows, (_, index) => !gone.has(index));
}

/**
 * Drops paragraphs (runs of non-blank rows) for which `isGone` holds, except their first `kept`
 * rows.
 */
export function withoutParagraphs(
  rows: readonly Row[],
  isGone: (paragraph: readonly Row[]) => boolean,
  kept = 0,
): readonly Row[] {
  const paragraphs = runsOf(rows, (row) => (isBlank(row) ? undefined : true));
  return withoutRanges(
    rows,
    paragraphs
      .filter(({ from, to }) => isGone(rows.slice(from, to)))
      .map(({ from, to }) => ({ from: from + kept, to })),
  );
}

export const isBlank = ({ text }: Pick<Row, 'text'>): boolean => text.trim() === '';

/** Returns a function that counts calls per key, this call included. */
export function createCounter(): (key: string) => number {
  const times = new Map<string, number>();
  return (key) => {
    const now = (times.get(key) ?? 0) + 1;
    times.set(key, now);
    return now;
  };
}

/** Changes the text of rows; protected rows keep theirs. */
export function changeRows(rows: readonly Row[], change: (text: string) => string): readonly Row[] {
  return rows.map((row) => {
    if (row.isProtected === true || row.at === undefined) return row;
    const text = change(row.text);
    return text === row.text ? row : { ...row, text };
  });
}

/**
 * Makes rows of a whole new text. If the change is lossless, they cover everything the old rows
 * did.
 */
export function replaceRows(rows: readonly Row[], text: string, loss: Loss): readonly Row[] {
  const covers = loss === 'none' ? rows.flatMap(linesOf) : [];
  return text.split('\n').map((line, index) => ({ text: line, ...(index === 0 && { covers }) }));
}

export const textOf = (rows: readonly Row[]): string => rows.map(({ text }) => text).join('\n');

function linesOf({ at, covers = [] }: Row): readonly number[] {
  return at === undefined ? covers : [at, ...covers];
}

/** More short gaps than this are announced once instead of one by one. */
const MAX_MARKED_GAPS = 3;
const SHORT_GAP = 8;

/** Renders a recipe's result for `input`, with markers for what is missing. */
export function render(
  input: readonly string[],
  rows: readonly Row[],
  { name, loss }: { readonly name: string; readonly loss: Loss },
): Compressed {
  const covered = new Set(rows.flatMap(linesOf));
  const removed = rangesWithout(input.map((_, at) => covered.has(at)));
  const numbers = rows.flatMap(({ at }) => (at === undefined ? [] : [at]));
  const isInOrder =
    numbers.every((at, index) => index === 0 || at > numbers[index - 1]!) &&
    rows.every(({ at, text }) => at !== undefined || text.startsWith(MARK));
  const lost = input.length - covered.size;
  if (!isInOrder) {
    const note =
      loss === 'none'
        ? []
        : [
            `${MARK}recipe ${name} shortened ${input.length === 1 ? 'this line' : `these ${input.length} lines`}; the source is complete]`,
          ];
    const kept = new Set(rows.map(({ text }) => text));
    const isPresent = input.map((line, at) => kept.has(line) || covered.has(at));
    return {
      text: [...note, ...rows.map(({ text }) => text)].join('\n'),
      removed: loss === 'none' ? [] : rangesWithout(isPresent),
    };
  }
  const filled = removed.filter(
    ({ from, to }) => !input.slice(from, to).every((line) => line.trim() === ''),
  );
  const changed = rows.filter(({ at, text }) => at !== undefined && text !== input[at]).length;
  const notice =
    loss === 'text' && changed > 0
      ? [`${MARK}recipe ${name} shortened ${changed} of the lines below; the source is complete]`]
      : [];
  const isOnce = filled.length > MAX_MARKED_GAPS && lost < filled.length * SHORT_GAP;
  const once = `${MARK}recipe ${name} left out ${lost} of ${input.length} lines in ${filled.length} places; the source is complete]`;
  return { text: [...notice, ...withMarkers(rows, removed, mark)].join('\n'), removed };

  function mark(range: LineRange): string | undefined {
    const index = filled.indexOf(range);
    if (index < 0) return undefined;
    if (isOnce) return index === 0 ? once : undefined;
    return index === 0 ? omissionMarker(range, input.length) : laterOmissionMarker(range);
  }
}

/** Returns the lines with a marker for each gap that gets one. */
function withMarkers(
  rows: readonly Row[],
  gaps: readonly LineRange[],
  mark: (range: LineRange) => string | undefined,
): readonly string[] {
  const out: string[] = [];
  let gap = 0;
  const upTo = (at: number): void => {
    for (; gap < gaps.length && gaps[gap]!.from < at; gap++) {
      const marker = mark(gaps[gap]!);
      if (marker !== undefined) out.push(marker);
    }
  };
  for (const { text, at } of rows) {
    if (at !== undefined) upTo(at);
    out.push(text);
  }
  upTo(Infinity);
  return out;
}
