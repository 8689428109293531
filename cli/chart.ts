/** Bars in the terminal, in eighths of a cell; plain letters where a terminal is not asked for more. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for `value` of `most` in `columns` cells. A value above 0 has at least an eighth. */
export function bar(value: number, most: number, columns: number): string {
  if (!(value > 0) || !(most > 0)) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, most) / most) * columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}
