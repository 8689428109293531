/**
 * One request as the ledger sees it. The same row feeds the SQLite file, the live window and the
 * trace, so a figure cannot differ between them.
 */
import { COLUMNS, FIELDS } from './columns.ts';
import type { FieldName, FieldValue } from './columns.ts';
import { compileFunction } from './compile-function.ts';

export { MAX_TEXT_CHARS } from './columns.ts';

/** One finished request. `null` means unmeasured or not applicable, never zero. */
export type LedgerRow = { readonly [K in FieldName]: FieldValue<K> };

/** The required fields of a row; all others have a default. */
export type LedgerFacts = Pick<LedgerRow, 'id' | 'startedMs' | 'endpoint' | 'outcome'> &
  Partial<LedgerRow>;

/** The name for sums of requests without a known model or provider. */
export const UNKNOWN = 'unknown';

/** The fields of a row, each spelt out. */
const FIELDS_OF_ROW = FIELDS.map((field) => {
  const value = `facts.${field} ?? columns.${field}.missing`;
  return `${field}: ${COLUMNS[field].clean === undefined ? value : `columns.${field}.clean(${value})`}`;
});

const make = compileFunction<(facts: LedgerFacts, columns: typeof COLUMNS) => LedgerRow>(
  ['facts', 'columns'],
  `return Object.freeze({ ${FIELDS_OF_ROW.join(', ')} })`,
);

/**
 * Makes a frozen row: missing fields are unmeasured, and texts from outside are cut to
 * `MAX_TEXT_CHARS`.
 */
export function ledgerRow(facts: LedgerFacts): LedgerRow {
  return make(facts, COLUMNS);
}

/** Returns true for a billed request without a known price. Must match `UNPRICED_SQL`. */
export function isUnpriced(row: LedgerRow): boolean {
  const { inputTokensSent, outputTokens, usageEstimated } = row;
  const isMeasured = inputTokensSent !== null || outputTokens !== null;
  return row.costNanoUsd === null && (isMeasured || usageEstimated);
}

/**
 * Returns true if the request failed: it ended in an error or broke off, or the client got a status
 * of 400 or more. A client that left is not a failure.
 */
export function isFailure(row: Pick<LedgerRow, 'outcome' | 'status'>): boolean {
  return (
    row.outcome === 'error' ||
    row.outcome === 'partial' ||
    (row.status !== null && row.status >= 400)
  );
}
