/**
 * Rows of the ledger for export to other programs: every column of the schema, money in dollars,
 * times in ISO 8601. A new column is exported without being named here.
 */
import { columnName, COLUMNS, FIELDS } from './columns.ts';
import type { Column } from './columns.ts';
import { csvCell, csvLineOf, exactUsd } from './csv.ts';
import type { LedgerRow } from './row.ts';

const EXPORTED = FIELDS.map((field) => ({
  field,
  column: COLUMNS[field] as Exportable,
  name: COLUMNS[field].name ?? columnName(field).replace(/_nano_usd$/, '_usd'),
  isMoney: field.endsWith('NanoUsd'),
}));

/** A column typed so that its functions accept the values of its own rows. */
type Exportable = Pick<Column<unknown>, 'json' | 'csvText'>;

/** The header line of the CSV. */
export const csvHead = csvLineOf(EXPORTED.map(({ name }) => name));

/** Returns a row as an object, for JSON; null is unmeasured. */
export function exportedRow(row: LedgerRow): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    EXPORTED.map(({ name, field, isMoney, column }) => {
      const value = row[field];
      if (value !== null && column.json !== undefined) return [name, column.json(value)];
      return [name, isMoney && typeof value === 'number' ? value / 1e9 : value];
    }),
  );
}

/**
 * Returns a row as a line of CSV: unmeasured is empty, money is exact, a list is separated by
 * spaces. `clean` makes text from outside safe for a file.
 */
export function csvLine(row: LedgerRow, clean: (text: string) => string): string {
  const cells = EXPORTED.map(({ field, isMoney, column }) => {
    const value = row[field];
    if (value === null) return '';
    if (column.csvText !== undefined) return csvCell(clean(column.csvText(value)));
    if (typeof value === 'string') return csvCell(clean(value));
    return isMoney ? exactUsd(Number(value)) : JSON.stringify(value);
  });
  return csvLineOf(cells);
}
