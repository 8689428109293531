/** Times of day as the user's clock shows them, on the terminal and on the page. */

// Making a formatter takes longer than a whole row of a list.
const ZONE = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** `14:03:05`; with the date where it was another day. A dash for what is no time. */
export function localTime(timestamp: unknown, nowMs: number): string {
  const date = new Date(typeof timestamp === 'string' ? timestamp : Number.NaN);
  if (Number.isNaN(date.getTime())) return '–';
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? timeOf(date) : dateAndTime(date);
}

/** `2026-01-31 09:05:07 CET`: a moment on its own, with its date and the zone in force at that time. */
export function localMoment(timestamp: string): string {
  const atMs = Date.parse(timestamp);
  return Number.isNaN(atMs) ? '–' : `${dateAndTime(new Date(atMs))} ${zoneName(atMs)}`;
}

/** `2026-01-31 09:05:07`, as the user's clock shows it. */
function dateAndTime(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${timeOf(date)}`;
}

function timeOf(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** The name of the zone: `CET`, `GMT+2`, `UTC`. */
export function zoneName(atMs: number): string {
  const parts = ZONE.formatToParts(atMs);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local';
}
