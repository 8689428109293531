/** Times in the user's time zone, for the terminal and the page. */

// Creating a formatter takes longer than rendering a whole row of a list.
const ZONE = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** Returns `14:03:05`, with the date if it was another day; a dash for an invalid time. */
export function localTime(timestamp: unknown, nowMs: number): string {
  const date = new Date(typeof timestamp === 'string' ? timestamp : Number.NaN);
  if (Number.isNaN(date.getTime())) return '–';
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? timeOf(date) : dateAndTime(date);
}

/**
 * Returns `2026-01-31 09:05:07 CET`, with the zone in force at that time; a dash for an invalid
 * time.
 */
export function localMoment(timestamp: string): string {
  const atMs = Date.parse(timestamp);
  return Number.isNaN(atMs) ? '–' : `${dateAndTime(new Date(atMs))} ${zoneName(atMs)}`;
}

/** Returns `2026-01-31 09:05:07`, in the user's time zone. */
function dateAndTime(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())} ${timeOf(date)}`;
}

function timeOf(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Returns the name of the zone at that time: `CET`, `GMT+2`, `UTC`. */
export function zoneName(atMs: number): string {
  const parts = ZONE.formatToParts(atMs);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local';
}
