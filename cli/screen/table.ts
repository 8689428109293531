/** Results as a table. */
import type { BaseContext } from 'clipanion';
import { visible } from '../../server/log/visible.ts';
import { aroundColors } from './colors.ts';
import { fold, leastWidth, widthOf } from './fit.ts';
import { colorsFor, columnsOf, isTerminal, writeLine } from './output.ts';
import type { Colors } from './output.ts';

/** Column heads; a head that starts with `>` is aligned to the right. */
export type TableHeader = readonly string[];

export type TableRow = readonly string[];

const GAP = '  ';
/** A word of this width may be broken. */
const LONG_WORD = 12;

/**
 * Rows under heads, without borders, as the text of a result. On a screen that is too narrow for
 * them, texts are folded between words and paths cut in the middle; where that is not enough long
 * words are broken, so that one odd name does not cost the others their table; where figures alone
 * are too wide, each row becomes a block of names and values. Below rows that were printed before,
 * `above`, they stand in the same columns, and the heads are not printed again.
 */
export function printTable(
  context: BaseContext,
  header: TableHeader,
  rows: readonly TableRow[],
  above?: readonly TableRow[],
): void {
  const { stdout } = context;
  const { dim, bold } = colorsFor(stdout, context.env);
  const names = header.map((name) => name.replace(/^>/, ''));
  const painted = rows.map((row) => row.map((cell) => aroundColors(cell, visible)));
  const columns = isTerminal(stdout) ? columnsOf(stdout) : Number.POSITIVE_INFINITY;
  const rowsInAll = [names, ...(above ?? []), ...painted];
  const widths = fittingWidths(rowsInAll, columns) ?? fittingWidths(rowsInAll, columns, LONG_WORD);
  const lines =
    widths === undefined
      ? painted.flatMap((row, index) => [
          ...(index > 0 || above !== undefined ? [''] : []),
          ...blockOf(names, row, { dim, bold }),
        ])
      : [
          ...(above === undefined ? tableOf(header, [names], widths).map(dim) : []),
          ...tableOf(header, painted, widths),
        ];
  for (const line of lines) writeLine(stdout, line);
}

/** How wide each column may be; undefined where they do not fit side by side, words up to `mostWord` whole. */
function fittingWidths(
  rows: readonly TableRow[],
  columns: number,
  mostWord?: number,
): readonly number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const column = (at: number) => rows.map((row) => row[at] ?? '');
  const widths = Array.from({ length: count }, (_, at) => Math.max(...column(at).map(widthOf)));
  const least = Array.from({ length: count }, (_, at) =>
    Math.max(...column(at).map((cell) => leastWidth(cell, mostWord))),
  );
  const gaps = GAP.length * (count - 1);
  const over = () => gaps + widths.reduce((sum, width) => sum + width, 0) - columns;
  while (over() > 0) {
    // The widest gives way first: it has the most to fold.
    const candidates = widths.map((width, at) => (width > least[at]! ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) return undefined;
    widths[widest]! -= 1;
  }
  return widths;
}

function tableOf(
  header: TableHeader,
  rows: readonly TableRow[],
  widths: readonly number[],
): string[] {
  const isRight = header.map((name) => name.startsWith('>'));
  return rows.flatMap((row) => {
    const cells = widths.map((width, at) => fold(row[at] ?? '', width));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, at) => {
          const text = lines[line] ?? '';
          const space = ' '.repeat(Math.max(0, widths[at]! - widthOf(text)));
          return isRight[at] === true ? space + text : text + space;
        })
        .join(GAP)
        .trimEnd(),
    );
  });
}

/** One row by itself: what it is about, and below it every name with its value. */
function blockOf(
  names: readonly string[],
  [title = '', ...values]: TableRow,
  { dim, bold }: Pick<Colors, 'dim' | 'bold'>,
): string[] {
  const width = Math.max(...names.slice(1).map(widthOf));
  return [
    bold(title),
    ...values.flatMap((value, at) =>
      value === '' ? [] : [`  ${dim((names[at + 1] ?? '').padEnd(width))}  ${value}`],
    ),
  ];
}
