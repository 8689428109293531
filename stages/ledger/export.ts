/**
 * Rows of the ledger as they leave it for other programs: every column of the schema, money in
 * dollars, moments in ISO 8601. A new column is in the export without being named here.
 */
import type { LedgerRow } from './row.ts';
import { ledgerColumns } from './tables.ts';

/** A value of an exported row; null is unmeasured. */
export type ExportedValue = string | number | boolean | readonly string[] | null;

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
  ) as keyof LedgerRow,
  isMoney: column.endsWith('_nano_usd'),
}));

/** The head of the CSV, which ends like each of its lines in CR LF (RFC 4180). */
export const csvHead = `${COLUMNS.map(({ name }) => name).join(',')}\r\n`;

/** A row as an object, for JSON. */
export function exportedRow(row: LedgerRow): Readonly<Record<string, ExportedValue>> {
  return Object.fromEntries(
    COLUMNS.map(({ name, field, isMoney }) => {
      const value = row[field];
      if (field === 'startedMs') return [name, new Date(row.startedMs).toISOString()];
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
    const value = row[field];
    if (value === null) return '';
    if (field === 'startedMs') return new Date(row.startedMs).toISOString();
    if (typeof value === 'number') return isMoney ? dollarText(value) : String(value);
    return typeof value === 'boolean' ? String(value) : cellOf(value, clean);
  });
  return `${cells.join(',')}\r\n`;
}

/** Whole nano-dollars as dollars, to the last digit and without an exponent. */
function dollarText(nanoUsd: number): string {
  const digits = String(Math.abs(nanoUsd)).padStart(10, '0');
  const parts = digits.slice(-9).split('');
  const decimals = parts.slice(0, parts.findLastIndex((digit) => digit !== '0') + 1).join('');
  const text = decimals === '' ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${decimals}`;
  return nanoUsd < 0 ? `-${text}` : text;
}

/**
 * A text as a cell. What a client named may begin like a formula, which a spreadsheet would
 * compute: an apostrophe before it makes it a text (OWASP, CSV injection).
 */
function cellOf(value: string | readonly string[], clean: (text: string) => string): string {
  const text = clean(typeof value === 'string' ? value : value.join(' '));
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
