/**
 * Tracks the original line numbers of a text while one algorithm after another leaves lines out:
 * every marker refers to lines of the original block, whatever was done before.
 */
import type { Compressed, LineRange } from '../rules/rule.ts';
import { MARK, omissionMarker, laterOmissionMarker, readOmission } from './marker.ts';
import { readRepeatCount } from './repeats.ts';

/** One line of a text. Notes written by svc stand for no line of the block. */
export interface Row {
  readonly text: string;
  readonly range: LineRange | undefined;
  readonly isOmission: boolean;
}

/**
 * Converts an unchanged text to rows; its first line is line `first` of the block, counted from 0.
 */
export function toRows(text: string, first: number): readonly Row[] {
  return text.split('\n').map((line, at) => ({
    text: line,
    range: { from: first + at, to: first + at + 1 },
    isOmission: false,
  }));
}

/**
 * Returns the rows after an algorithm that left out whole lines, with or without markers or counts,
 * and kept every other line recognizable at its position. Undefined for any other algorithm.
 */
export function followRows(
  rows: readonly Row[],
  { text, removed }: Compressed,
): readonly Row[] | undefined {
  const out: Row[] = [];
  let at = 0;
  let gap = 0;
  for (const line of text.split('\n')) {
    const range = removed[gap];
    if (range?.from === at && isMarkerOf(line, range)) {
      out.push({ text: line, range: spanOf(rows, range.from, range.to), isOmission: true });
      at = range.to;
      gap++;
      continue;
    }
    if (line.startsWith(MARK) && rows[at]?.text !== line) {
      const times = readRepeatCount(line) ?? 0;
      out.push({ text: line, range: spanOf(rows, at, at + times), isOmission: false });
      at += times;
      continue;
    }
    for (; removed[gap]?.from === at; gap++) at = removed[gap]!.to;
    const row = rows[at];
    if (row === undefined) return undefined;
    out.push({ ...row, text: line });
    at++;
  }
  for (; removed[gap]?.from === at; gap++) at = removed[gap]!.to;
  return at === rows.length ? out : undefined;
}

function isMarkerOf(line: string, { from, to }: LineRange): boolean {
  const named = readOmission(line);
  return named?.from === from && named.to === to;
}

function spanOf(rows: readonly Row[], from: number, to: number): LineRange | undefined {
  const ranges = rows.slice(from, to).flatMap(({ range }) => (range === undefined ? [] : [range]));
  return ranges.length === 0 ? undefined : { from: ranges[0]!.from, to: ranges.at(-1)!.to };
}

/** Renumbers the markers in the rows for a block of `total` lines. */
export function numberRows(rows: readonly Row[], total: number): readonly Row[] {
  let announced = false;
  return rows.map((row) => {
    if (!row.isOmission || row.range === undefined) return row;
    const text = announced ? laterOmissionMarker(row.range) : omissionMarker(row.range, total);
    announced = true;
    return { ...row, text };
  });
}

/** Returns the lines between `first` and `end` that no row stands for. */
export function removedOf(rows: readonly Row[], first: number, end: number): readonly LineRange[] {
  const removed: LineRange[] = [];
  let at = first;
  for (const { range, isOmission } of rows) {
    if (range === undefined || isOmission) continue;
    if (range.from > at) removed.push({ from: at, to: range.from });
    at = range.to;
  }
  if (end > at) removed.push({ from: at, to: end });
  return removed;
}
