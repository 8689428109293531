/**
 * Tables in columns without rulers, as `docker ps` and `kubectl get` print them: names in capitals
 * above, cells below each name. A cell may be empty, so only its position tells its column: columns
 * are dropped as a whole, or not at all.
 */
import { MARK } from '../text/marker.ts';
import type { Row } from './rows.ts';

/** Names in capitals, two or more spaces apart. */
const HEADER =
  /^[A-Z][A-Z\d()%/._#-]*(?: [A-Z\d()%/._#-]+)*(?: {2,}[A-Z%#][A-Z\d()%/._#-]*(?: [A-Z\d()%/._#-]+)*)+\s*$/;
/** Longer lines are not rows of such a table, in characters. */
const MAX_LINE_CHARS = 1000;
const MIN_ROWS = 3;
/** A cell without a value. */
const EMPTY = /^(?:<none>)?$/;

interface Column {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Drops the columns of `names` and those without a value from each table; the remaining cells are
 * put between bars.
 */
export function withoutColumns(rows: readonly Row[], names: readonly string[]): readonly Row[] {
  const out: Row[] = [];
  for (let at = 0; at < rows.length;) {
    const columns = columnsOf(rows[at]!.text);
    let end = at + 1;
    while (columns !== undefined && end < rows.length && isRowOf(columns, rows[end]!.text)) end++;
    const isTable = columns !== undefined && end - at > MIN_ROWS;
    out.push(...(isTable ? withColumns(rows.slice(at, end), columns, names) : rows.slice(at, end)));
    at = end;
  }
  return out;
}

function columnsOf(header: string): readonly Column[] | undefined {
  if (header.length > MAX_LINE_CHARS || !HEADER.test(header)) return undefined;
  const starts = [...header.matchAll(/(?:^|(?<= {2}))\S/g)].map(({ index }) => index);
  return starts.map((from, nth) => {
    const to = starts[nth + 1] ?? MAX_LINE_CHARS;
    return { name: header.slice(from, to).trimEnd(), from, to };
  });
}

/** Returns true if every cell begins below its name, or is empty, and ends before the next. */
function isRowOf(columns: readonly Column[], text: string): boolean {
  if (text.trim() === '' || text.length > MAX_LINE_CHARS || text.includes('\t')) return false;
  return columns.every(({ from, to }) => {
    const cell = text.slice(from, to);
    return (
      (cell.trim() === '' || cell[0] !== ' ') &&
      (from === 0 || ' '.startsWith(text.slice(from - 1, from)))
    );
  });
}

function withColumns(
  rows: readonly Row[],
  columns: readonly Column[],
  names: readonly string[],
): readonly Row[] {
  const cellOf = ({ text }: Row, { from, to }: Column): string => text.slice(from, to).trimEnd();
  const keptColumns = columns.filter(
    (column) =>
      !names.includes(column.name) &&
      !rows.slice(1).every((row) => EMPTY.test(cellOf(row, column))),
  );
  const cellsText = (row: Row): string =>
    keptColumns.map((column) => cellOf(row, column)).join(' | ');
  const [header] = rows;
  const isWhole = rows.every(({ isProtected }) => isProtected !== true);
  const narrowRows = rows.map((row) =>
    row.isProtected === true ? row : { ...row, text: cellsText(row) },
  );
  if (isWhole) return narrowRows;
  // Rows kept verbatim keep all their columns; the others get a header of their own.
  const first = narrowRows.findIndex((row, nth) => row.text !== rows[nth]!.text);
  if (first < 0) return rows;
  const note = `${MARK}rows below with fewer columns have: ${cellsText(header!)}]`;
  return [...narrowRows.slice(0, first), { text: note }, ...narrowRows.slice(first)];
}
