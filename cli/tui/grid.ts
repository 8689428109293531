/**
 * Lays out rows in columns on a screen of a given width: less important columns are dropped before
 * a figure is cut.
 */
import { visible } from '../../server/log/visible.ts';
import { ESSENTIAL_RANK } from '../../server/dashboard/page/requests/columns.ts';
import type { Column } from '../../server/dashboard/page/requests/columns.ts';
import type { Tone } from '../../server/words/problems.ts';
import type { Colors } from '../screen/colors.ts';
import { cut, widthOf } from '../screen/fit.ts';

const GAP = '  ';

/** Returns the header line, and one line per row. */
export function grid<T>(
  all: readonly Column<T>[],
  rows: readonly T[],
  width: number,
  colors: Colors,
): string[] {
  const texts = new Map(
    all.map((column) => [column, rows.map((row) => withoutControls(column.text(row)))]),
  );
  const { columns, widths } = fittingColumns(all, rows, (column) => texts.get(column)!, width);
  const line = (cells: readonly string[], paint: (at: number) => (text: string) => string) =>
    cells
      .map((cell, at) => {
        const text = cut(cell, widths[at]!);
        const space = ' '.repeat(Math.max(0, widths[at]! - widthOf(text)));
        const painted = paint(at)(text);
        return columns[at]!.isRight === true ? space + painted : painted + space;
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ header }) => header),
      () => colors.dim,
    ),
    ...rows.map((row, index) =>
      line(
        columns.map((column) => texts.get(column)![index]!),
        (at) => paintOf(columns[at]!.tone?.(row), colors),
      ),
    ),
  ];
}

/** Returns the colour of a tone. */
export function paintOf(tone: Tone | undefined, colors: Colors): (text: string) => string {
  if (tone === undefined) return (text) => text;
  return { good: colors.green, warn: colors.yellow, bad: colors.red }[tone];
}

function fittingColumns<T>(
  all: readonly Column<T>[],
  rows: readonly T[],
  textsOf: (column: Column<T>) => readonly string[],
  width: number,
) {
  const natural = (column: Column<T>) =>
    Math.max(widthOf(column.header), ...textsOf(column).map(widthOf));
  const minWidth = (column: Column<T>) =>
    Math.min(natural(column), Math.max(widthOf(column.header), column.minWidth ?? Infinity));
  const fullWidth = (column: Column<T>) =>
    Math.max(
      minWidth(column),
      ...rows.map((row) =>
        column.whole === undefined ? 0 : widthOf(withoutControls(column.whole(row))),
      ),
    );
  const essential = all.filter(({ rank }) => rank <= ESSENTIAL_RANK);
  const wide = sideBySide(all, fullWidth, width);
  const isWhole = essential.every((column) => wide.includes(column));
  const columns = isWhole ? wide : sideBySide(essential, minWidth, width);
  const widths = columns.map(isWhole ? fullWidth : minWidth);
  let spare = widths.reduce(
    (room, taken) => room - taken,
    width - GAP.length * (columns.length - 1),
  );
  const missing = (at: number): number => natural(columns[at]!) - widths[at]!;
  // Columns that lack little space are completed before a long name takes the rest.
  for (const at of columns.map((_, place) => place).toSorted((a, b) => missing(a) - missing(b))) {
    const more = Math.max(0, Math.min(spare, missing(at)));
    spare -= more;
    widths[at]! += more;
  }
  return { columns, widths };
}

/** Returns the columns that fit in `width`, each as wide as `widthOfColumn` says; at least one. */
function sideBySide<T>(
  all: readonly Column<T>[],
  widthOfColumn: (column: Column<T>) => number,
  width: number,
): readonly Column<T>[] {
  let columns = all;
  const total = () =>
    columns.reduce((sum, column) => sum + widthOfColumn(column), GAP.length * (columns.length - 1));
  while (columns.length > 1 && total() > width) {
    const last = columns.reduce((worst, column) => (column.rank > worst.rank ? column : worst));
    columns = columns.filter((column) => column !== last);
  }
  return columns;
}

/** Returns external text on one line, without terminal control and cursor movement. */
export function withoutControls(text: string): string {
  return visible(text).replaceAll('\t', ' ');
}

/** Returns names and values line by line; the caller folds long values. */
export function facts(
  rows: readonly (readonly [name: string, value: string])[],
  { dim }: Colors,
): string[] {
  const width = Math.max(0, ...rows.map(([name]) => widthOf(name)));
  return rows.map(
    ([name, value]) =>
      `${dim(name)}${' '.repeat(width - widthOf(name))}  ${withoutControls(value)}`,
  );
}
