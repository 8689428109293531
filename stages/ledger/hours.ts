/**
 * The sums of every hour, kept beside the rows: a report over a million requests reads some
 * thousands of sums, and sums outlive the rows that retention deletes. The writer adds the rows
 * that a batch actually stored to their hours in the batch's own transaction, so that both always
 * agree.
 */
import { columnName } from './columns.ts';
import { ROW_SUMS } from './figures.ts';
import type { Totals } from './figures.ts';

export const HOUR_MS = 3_600_000;

/** The keys of hourly sums. Sessions are not among them: there is one for every few requests. */
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

/** The sums of the requests that began in one hour and share all keys. */
export type StoredHour = { readonly [K in HourKey]: string | null } & {
  /** The beginning of the hour, in milliseconds since the epoch. */
  readonly startedMs: number;
} & Totals;

/** The keys as columns. */
export const KEY_COLUMNS = HOUR_KEYS.map(columnName);

const SUMS = ROW_SUMS.map(([name, added]) => [columnName(name), added] as const);

/** NULL equals nothing, not even NULL; no name contains the character that replaces it. */
const UNIQUE = ['started_ms', ...KEY_COLUMNS.map((key) => `coalesce(${key}, char(1))`)].join(', ');
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;

/**
 * The last row that the hours include. If the newest rows were deleted, or all are renumbered
 * (`VACUUM`), that is the newest remaining one: numbers are then reused.
 */
export const SUMMED_UPTO = `SELECT min(rowid_upto, coalesce((SELECT max(rowid) FROM requests), 0))
  FROM summed`;
/** Adds the rows after bound 1 to their hours. */
export const ADD_TO_HOURS = addToHours('requests WHERE rowid > ?');
export const NOTE_SUMMED = `UPDATE summed
  SET rowid_upto = coalesce((SELECT max(rowid) FROM requests), 0)`;

/** Returns SQL that adds the rows named by `from` to their hours. */
export function addToHours(from: string): string {
  return `INSERT INTO hours (${['started_ms', ...KEY_COLUMNS, ...SUMS.map(([sum]) => sum)].join(', ')})
  SELECT ${hourOf('started_ms')} AS hour, ${KEY_COLUMNS.join(', ')},
    ${SUMS.map(([, added]) => `sum(${added})`).join(', ')}
  FROM ${from} GROUP BY hour, ${KEY_COLUMNS.join(', ')}
  ON CONFLICT (${UNIQUE}) DO UPDATE SET
    ${SUMS.map(([sum]) => `${sum} = hours.${sum} + excluded.${sum}`).join(', ')}`;
}
