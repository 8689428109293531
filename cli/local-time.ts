/** Times of day as the user's clock shows them. */

/** `14:03:05`; with the date where it was another day. A dash for what is no time. */
export function localTime(timestamp: unknown, nowMs: number): string {
  const date = new Date(typeof timestamp === 'string' ? timestamp : Number.NaN);
  if (Number.isNaN(date.getTime())) return '–';
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  if (date.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** The name of the zone: `CET`, `GMT+2`, `UTC`. */
export function zoneName(nowMs: number): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(nowMs);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local';
}
