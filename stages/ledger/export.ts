/**
 * Rows of the ledger as they leave it for other programs: every column of the schema, money in
 * dollars, moments in ISO 8601. A new column is in the export without being named here.
 */
import { csvCell, csvLineOf, exactUsd } from './csv.ts';
import type { LedgerRow } from './row.ts';
import { ledgerColumns } from './tables.ts';
import { resultsToJson, resultsToWords } from './tools/results-forms.ts';

/** A value of an exported row; null is unmeasured. */
export type ExportedValue = string | number | boolean | readonly (string | object)[] | null;

/** Columns whose exported name is that of the other answers (`/recent`, `/stats`). */
const NAMES: Readonly<Record<string, string>> = {
  id: 'request_id',
  started_ms: 'timestamp',
  key_label: 'key',
};

interface Column {
  readonly name: string;
  readonly field: keyof LedgerRow;
  readonly isMoney: boolean;
}

const COLUMNS: readonly Column[] = ledgerColumns.map((column) => ({
  name: NAMES[column] ?? column.replace(/_nano_usd$/, '_usd'),
  field: column.replaceAll(/_(\w)/g, (_, letter: string) =>
    letter.toUpperCase(),
  ) as Column['field'],
  isMoney: column.endsWith('_nano_usd'),
}));

/** The head of the CSV. */
export const csvHead = csvLineOf(COLUMNS.map(({ name }) => name));

/** A row as an object, for JSON. */
export function exportedRow(row: LedgerRow): Readonly<Record<string, ExportedValue>> {
  return Object.fromEntries(
    COLUMNS.map(({ name, field, isMoney }) => {
      if (field === 'toolSet') return [name, row.toolSet?.id ?? null];
      const value = row[field];
      if (field === 'startedMs') return [name, new Date(row.startedMs).toISOString()];
      if (field === 'toolResults') return [name, row.toolResults && resultsToJson(row.toolResults)];
      return [name, isMoney && typeof value === 'number' ? value / 1e9 : value];
    }),
  );
}

/**
 * A row as a line of CSV: unmeasured is empty, money has all its digits, a list is separated by
 * spaces. `clean` makes of a text from outside what may be in a file.
 */
export function csvLine(row: LedgerRow, clean: (text: string) => string): string {
  const cells = COLUMNS.map(({ field, isMoney }) => {
    const value = field === 'toolSet' ? (row.toolSet?.id ?? null) : row[field];
    if (value === null) return '';
    if (field === 'startedMs') return new Date(row.startedMs).toISOString();
    if (field === 'toolResults') return csvCell(clean(resultsToWords(row.toolResults!)));
    if (typeof value === 'number') return isMoney ? exactUsd(value) : String(value);
    if (typeof value === 'boolean') return String(value);
    return csvCell(clean(typeof value === 'string' ? value : value.join(' ')));
  });
  return csvLineOf(cells);
}
