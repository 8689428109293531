/** Dates as ISO 8601 writes them, and nothing that a lenient parser would also take. */

/** What `parseIsoDate` takes, in words. */
export const ISO_DATE = 'an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(.{10})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Milliseconds since the epoch of `2026-01-31` (the beginning of that UTC day) or of a time
 * with its zone, as `2026-01-31T12:00:00Z`; undefined for anything else, 31 February too.
 */
export function parseIsoDate(text: string): number | undefined {
  const day = TIME.exec(text)?.[1] ?? text;
  const match = DATE.exec(day);
  if (match === null) return undefined;
  const [year, month, date] = match.slice(1).map(Number);
  const start = new Date(Date.UTC(year!, month! - 1, date));
  // A parser makes 3 March of 31 February.
  if (start.getUTCMonth() !== month! - 1 || start.getUTCDate() !== date) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}
