/**
 * The sums of every hour, kept beside the rows: a report over a million requests reads some
 * thousands of sums, and sums outlive the rows that retention deletes. The writer adds what a batch
 * really stored to its hours in the batch's own transaction, so that both are always one.
 */
import { columnName } from './columns.ts';
import { ROW_SUMS } from './figures.ts';
import type { Totals } from './figures.ts';

export const HOUR_MS = 3_600_000;

/** What sums of hours are kept by. Sessions are not: there is one for every few requests. */
export const HOUR_KEYS = [
  'provider',
  'model',
  'client',
  'skill',
  'node',
  'mode',
  'keyLabel',
  'project',
] as const;

export type HourKey = (typeof HOUR_KEYS)[number];

/** The sums of the requests that began in one hour and have all keys in common. */
export type StoredHour = { readonly [K in HourKey]: string | null } & {
  /** Where the hour begins, in milliseconds since the epoch. */
  readonly startedMs: number;
} & Totals;

/** The same as columns. */
export const KEY_COLUMNS = HOUR_KEYS.map(columnName);

const SUMS = ROW_SUMS.map(([name, added]) => [columnName(name), added] as const);

/** NULL equals nothing, not even NULL; no name holds the character that stands for it. */
const UNIQUE = ['started_ms', ...KEY_COLUMNS.map((key) => `coalesce(${key}, char(1))`)].join(', ');
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;

/**
 * Up to which row the hours have everything. Where the newest rows were deleted, or all are
 * numbered anew (`VACUUM`), that is the newest one that is left: numbers then come a second time.
 */
export const SUMMED_UPTO = `SELECT min(rowid_upto, coalesce((SELECT max(rowid) FROM requests), 0))
  FROM summed`;
/** Adds the rows past the bound one to their hours. */
export const ADD_TO_HOURS = addToHours('requests WHERE rowid > ?');
export const NOTE_SUMMED = `UPDATE summed
  SET rowid_upto = coalesce((SELECT max(rowid) FROM requests), 0)`;

/** Adds the rows that `from` names to their hours. */
export function addToHours(from: string): string {
  return `INSERT INTO hours (${['started_ms', ...KEY_COLUMNS, ...SUMS.map(([sum]) => sum)].join(', ')})
  SELECT ${hourOf('started_ms')} AS hour, ${KEY_COLUMNS.join(', ')},
    ${SUMS.map(([, added]) => `sum(${added})`).join(', ')}
  FROM ${from} GROUP BY hour, ${KEY_COLUMNS.join(', ')}
  ON CONFLICT (${UNIQUE}) DO UPDATE SET
    ${SUMS.map(([sum]) => `${sum} = hours.${sum} + excluded.${sum}`).join(', ')}`;
}
