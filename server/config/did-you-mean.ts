/** Finds the known word that a user probably meant. */

/**
 * Counts the letters to insert, delete, replace or swap to turn `a` into `b` (optimal string
 * alignment). Gives up beyond `limit` and returns `limit + 1`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        cellOf(last, column) + 1,
        cellOf(current, column - 1) + 1,
        cellOf(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, cellOf(beforeLast, column - 2) + 1);
      current.push(best);
    }
    if (Math.min(...current) > limit) return limit + 1;
    beforeLast = last;
    last = current;
  }
  return cellOf(last, b.length);
}

/**
 * Returns the candidate nearest to `word`, or undefined when none is near: at most a third of its
 * letters may differ, and at least one may. A candidate that ends in `.word` is near too, since
 * users forget the section first, and so is one with a further word at its end, or one less.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.min(6, Math.floor(word.length / 3)));
  let best: string | undefined;
  let bestDistance = limit + 1;
  let inSection: string | undefined;
  let related: string | undefined;
  for (const candidate of candidates) {
    if (candidate.endsWith(`.${word}`)) inSection ??= candidate;
    if (startsWithWord(candidate, word) || startsWithWord(word, candidate)) related ??= candidate;
    const distance = editDistance(word, candidate, bestDistance - 1);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? inSection ?? related;
}

function startsWithWord(longer: string, shorter: string): boolean {
  return longer.startsWith(`${shorter}_`) || longer.startsWith(`${shorter}-`);
}

function cellOf(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns `; did you mean X?` for the candidate nearest to `word`, formatted by `format`; empty
 * where none is near.
 */
export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  format: (near: string) => string = (near) => near,
): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean ${format(near)}?`;
}
