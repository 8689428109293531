/**
 * Percentiles over many sorted lists at once, without merging them: by halving the range of values,
 * and counting in each list how many are below.
 */

/** Ascending whole numbers. */
export type SortedList = Uint32Array | Float64Array;

/**
 * Returns the percentiles by nearest rank, each one of the values; `null` without values.
 */
export function percentilesOf(
  lists: readonly SortedList[],
  percents: readonly number[],
): readonly (number | null)[] {
  const filled = lists.filter(({ length }) => length > 0);
  const count = filled.reduce((sum, { length }) => sum + length, 0);
  return percents.map((percent) =>
    count === 0 ? null : valueAt(filled, Math.max(0, Math.ceil((count * percent) / 100) - 1)),
  );
}

/** A list, and which of its values may still be the wanted one. */
interface Window {
  readonly list: SortedList;
  from: number;
  upto: number;
  /** How many values are at most the one that is tried. */
  atMost: number;
}

/** Returns the value that `rank` others precede, in lists that have values. */
function valueAt(lists: readonly SortedList[], rank: number): number {
  let low = Infinity;
  let high = -Infinity;
  let windows: Window[] = [];
  for (const list of lists) {
    low = Math.min(low, list[0]!);
    high = Math.max(high, list.at(-1)!);
    windows.push({ list, from: 0, upto: list.length, atMost: 0 });
  }
  /** Values below `low` in lists of which nothing else is left. */
  let below = 0;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    let atMost = below;
    for (const window of windows) atMost += countUpto(window, middle);
    const isUpto = atMost > rank;
    if (isUpto) high = middle;
    else low = middle + 1;
    const open: Window[] = [];
    for (const window of windows) {
      if (isUpto) window.upto = window.atMost;
      else window.from = window.atMost;
      if (window.from < window.upto) open.push(window);
      else below += window.from;
    }
    windows = open;
  }
  return low;
}

/** Counts the values of the list that are at most `value`. */
function countUpto(window: Window, value: number): number {
  const { list } = window;
  let low = window.from;
  let high = window.upto;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  window.atMost = low;
  return low;
}
