/** Strict ISO 8601 dates, without the other forms that a lenient parser accepts. */

/** Description of the accepted formats. */
export const ISO_DATE = 'an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(.{10})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Returns milliseconds since the epoch for `2026-01-31` (the start of that UTC day) or a time with
 * its zone, such as `2026-01-31T12:00:00Z`; undefined for anything else, including 31 February.
 */
export function parseIsoDate(text: string): number | undefined {
  const day = TIME.exec(text)?.[1] ?? text;
  const match = DATE.exec(day);
  if (match === null) return undefined;
  const [year, month, date] = match.slice(1).map(Number);
  const start = new Date(Date.UTC(year!, month! - 1, date));
  // `Date` turns 31 February into 3 March.
  if (start.getUTCMonth() !== month! - 1 || start.getUTCDate() !== date) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}
