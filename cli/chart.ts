/** Bars in the terminal, in eighths of a cell; plain letters where a terminal is not asked for more. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for `value` of `most` in `columns` cells. A value above 0 has at least an eighth. */
export function bar(value: number, most: number, columns: number): string {
  if (!(value > 0) || !(most > 0)) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, most) / most) * columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** One character a value; a gap where it is `null`. */
export function sparkline(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return ' ';
      if (most === 0) return HEIGHTS[0]!;
      return HEIGHTS[Math.min(7, Math.round((value / most) * 7))]!;
    })
    .join('');
}
