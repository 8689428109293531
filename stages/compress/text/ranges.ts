/** Ranges of lines: runs of similar neighbours, and the lines that are dropped. */
import type { LineRange } from '../rules/rule.ts';

/**
 * Returns runs of at least `min` neighbours with the same key; items without a key (undefined)
 * are in no run.
 */
export function runsOf<T>(
  items: readonly T[],
  keyOf: (item: T, at: number) => unknown,
  min = 1,
): readonly LineRange[] {
  const runs: { from: number; to: number }[] = [];
  let last: unknown;
  items.forEach((item, at) => {
    const key = keyOf(item, at);
    if (key !== undefined && key === last) runs.at(-1)!.to = at + 1;
    else if (key !== undefined) runs.push({ from: at, to: at + 1 });
    last = key;
  });
  return min === 1 ? runs : runs.filter(({ from, to }) => to - from >= min);
}

/** Returns the lines that are dropped; `keep[i]` says whether line i is kept. */
export function rangesWithout(keep: readonly boolean[]): readonly LineRange[] {
  return runsOf(keep, (stays) => (stays ? undefined : true));
}

/** Returns the lines of all ranges, counted from 0. */
export function linesIn(ranges: readonly LineRange[]): ReadonlySet<number> {
  const lines = new Set<number>();
  for (const { from, to } of ranges) for (let at = from; at < to; at++) lines.add(at);
  return lines;
}

/** Replaces each range of the items by the result of `make`. */
export function replaceRanges<T>(
  items: readonly T[],
  ranges: readonly LineRange[],
  make: (range: LineRange, nth: number) => readonly T[],
): readonly T[] {
  const out: T[] = [];
  let next = 0;
  for (const [nth, range] of ranges.entries()) {
    for (const item of items.slice(next, range.from)) out.push(item);
    for (const item of make(range, nth)) out.push(item);
    next = range.to;
  }
  for (const item of items.slice(next)) out.push(item);
  return out;
}
