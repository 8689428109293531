/**
 * Bar charts in the terminal, in eighths of a cell, made of plain characters without control
 * sequences.
 */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Returns a bar for `value` of `max` in `columns` cells. A value above 0 has at least an eighth.
 */
export function bar(value: number, max: number, columns: number): string {
  if (!(value > 0) || !(max > 0)) return '';
  const eighths = Math.max(1, Math.round((Math.min(value, max) / max) * columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}

const HEIGHTS = '▁▂▃▄▅▆▇█';

/**
 * Returns a line of bars in `columns` cells: the values in groups of equal size, each as high as
 * its sum. A sum above 0 is always visible.
 */
export function spark(values: readonly number[], columns: number): string {
  if (values.length === 0 || columns < 1) return '';
  const size = Math.ceil(values.length / columns);
  const sums: number[] = [];
  for (let at = 0; at < values.length; at += size)
    sums.push(values.slice(at, at + size).reduce((sum, value) => sum + value, 0));
  const max = Math.max(...sums);
  return sums
    .map((sum) => (sum > 0 ? HEIGHTS[Math.round((sum / max) * (HEIGHTS.length - 1))]! : ' '))
    .join('');
}
