/** Prints results as tables. */
import type { BaseContext } from 'clipanion';
import { visible } from '../../server/log/visible.ts';
import { mapUncolored } from './colors.ts';
import { fold, minWidth, widthOf } from './fit.ts';
import { colorsFor, columnsOf, isTerminal, writeLine } from './output.ts';
import type { Colors } from './output.ts';

/** Column headers; one that starts with `>` is right-aligned. */
export type TableHeader = readonly string[];

export type TableRow = readonly string[];

const GAP = '  ';
/** A word longer than this may be broken. */
const LONG_WORD = 12;

/** Further options of a table. */
export interface TableOptions {
  /** Rows printed before, with the same columns and headers. */
  readonly above?: readonly TableRow[] | undefined;
  /** Headers of columns that a narrow screen drops, in this order. */
  readonly expendable?: readonly string[];
}

/**
 * Prints rows under headers, without borders. A screen that is too narrow first loses the
 * expendable columns. If that is not enough, texts are folded between words and paths cut in the
 * middle, then long words are broken, so that one odd name does not ruin the table; if the figures
 * alone are too wide, each row becomes a block of names and values. Below earlier rows the headers
 * are printed again only if the columns have changed.
 */
export function printTable(
  context: BaseContext,
  wholeHeader: TableHeader,
  wholeRows: readonly TableRow[],
  { above: wholeAbove, expendable = [] }: TableOptions = {},
): void {
  const { stdout } = context;
  const { dim, bold } = colorsFor(stdout, context.env);
  const columns = isTerminal(stdout) ? columnsOf(stdout) : Number.POSITIVE_INFINITY;
  const allNames = wholeHeader.map((name) => name.replace(/^>/, ''));
  const kept = visibleColumns(allNames, [...(wholeAbove ?? []), ...wholeRows], columns, expendable);
  const isAsAbove =
    wholeAbove !== undefined &&
    kept.length === visibleColumns(allNames, wholeAbove, columns, expendable).length;
  const only = (row: TableRow): TableRow => kept.map((at) => row[at] ?? '');
  const above = wholeAbove?.map(only);
  const header = only(wholeHeader);
  const names = only(allNames);
  const painted = wholeRows.map((row) => only(row).map((cell) => mapUncolored(cell, visible)));
  const rowsInAll = [names, ...(above ?? []), ...painted];
  const widths = fittingWidths(rowsInAll, columns) ?? fittingWidths(rowsInAll, columns, LONG_WORD);
  const lines =
    widths === undefined
      ? painted.flatMap((row, index) => [
          ...(index > 0 || above !== undefined ? [''] : []),
          ...blockOf(names, row, { dim, bold }),
        ])
      : [
          ...(isAsAbove ? [] : tableOf(header, [names], widths).map(dim)),
          ...tableOf(header, painted, widths),
        ];
  for (const line of lines) writeLine(stdout, line);
}

/**
 * Returns the indexes of the columns to show: those that fit, each cell on one line, if enough are
 * expendable.
 */
function visibleColumns(
  names: readonly string[],
  rows: readonly TableRow[],
  columns: number,
  expendable: readonly string[],
): readonly number[] {
  let kept = names.map((_, at) => at);
  const widths = names.map((name, at) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(visible(row[at] ?? '')))),
  );
  for (const name of expendable) {
    const width = kept.reduce((sum, at) => sum + widths[at]!, GAP.length * (kept.length - 1));
    if (width <= columns) break;
    kept = kept.filter((at) => names[at] !== name);
  }
  return kept;
}

/**
 * Returns the width of each column; undefined if they do not fit side by side with words up to
 * `maxWord` unbroken.
 */
function fittingWidths(
  rows: readonly TableRow[],
  columns: number,
  maxWord?: number,
): readonly number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const column = (at: number) => rows.map((row) => row[at] ?? '');
  const widths = Array.from({ length: count }, (_, at) => Math.max(...column(at).map(widthOf)));
  const min = Array.from({ length: count }, (_, at) =>
    Math.max(...column(at).map((cell) => minWidth(cell, maxWord))),
  );
  const gaps = GAP.length * (count - 1);
  const over = () => gaps + widths.reduce((sum, width) => sum + width, 0) - columns;
  while (over() > 0) {
    // The widest column shrinks first: it has the most to fold.
    const candidates = widths.map((width, at) => (width > min[at]! ? width : 0));
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

/** Returns one row as a block: its subject, and below it every name with its value. */
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
