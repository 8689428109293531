/**
 * Rows: tables by their delimiters, the same number of commas, tabs or bars in nearly every line;
 * and lines of one form.
 */

const MIN_LINES = 5;
const MIN_SHARE = 0.9;
/** Minimum count of each delimiter for columns; commas also occur in sentences. */
const DELIMITERS: readonly (readonly [string, number])[] = [
  ['\t', 1],
  ['|', 1],
  [',', 2],
  [';', 2],
];
const RULER = /^[\s|+=:-]{3,}$/;

/** Returns true if the lines are rows of cells. Each line is read in full, so pass cut lines. */
export function looksLikeTable(lines: readonly string[]): boolean {
  const rows = lines.filter((line) => !RULER.test(line));
  if (rows.length < MIN_LINES) return false;
  const bare = rows.map((line) => line.replaceAll(/"[^"]{0,300}"/g, '"'));
  return DELIMITERS.some(([delimiter, least]) => {
    const counts = new Map<number, number>();
    for (const line of bare) {
      const count = line.split(delimiter).length - 1;
      if (count >= least) counts.set(count, (counts.get(count) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) >= rows.length * MIN_SHARE;
  });
}

const ALIKE_LINES = 6;
const ALIKE_SHARE = 0.6;

/** Returns true if most lines are the same apart from their words and numbers. */
export function areAlike(lines: readonly string[]): boolean {
  if (lines.length < ALIKE_LINES) return false;
  const counts = new Map<string, number>();
  for (const line of lines) {
    const form = line
      .slice(0, 120)
      .trim()
      .replaceAll(/[A-Za-z_]+/g, 'a')
      .replaceAll(/[\d.]+/g, '0')
      .replaceAll(/\s+/g, ' ')
      .slice(0, 80);
    counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  return Math.max(...counts.values()) >= lines.length * ALIKE_SHARE;
}
