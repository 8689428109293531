/** Tables by their delimiters: the same number of commas, tabs or bars in nearly every line. */

const MIN_LINES = 5;
const SHARE = 0.9;
/** Fewest of each that make columns; commas also stand in sentences. */
const DELIMITERS: readonly (readonly [string, number])[] = [
  ['\t', 1],
  ['|', 1],
  [',', 2],
  [';', 2],
];
const RULE = /^[\s|+=:-]{3,}$/;

/** True if the lines are rows of cells. Lines are looked at as far as they are given. */
export function looksLikeTable(lines: readonly string[]): boolean {
  const rows = lines.filter((line) => !RULE.test(line));
  if (rows.length < MIN_LINES) return false;
  const bare = rows.map((line) => line.replaceAll(/"[^"]{0,300}"/g, '"'));
  return DELIMITERS.some(([delimiter, least]) => {
    const counts = new Map<number, number>();
    for (const line of bare) {
      const count = line.split(delimiter).length - 1;
      if (count >= least) counts.set(count, (counts.get(count) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) >= rows.length * SHARE;
  });
}
