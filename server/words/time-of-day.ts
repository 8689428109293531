/** Formats a nearby time in the user's time zone. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const DAY_MS = 24 * 3600 * 1000;

/** Formats `16:40`, with the weekday if it is not within a day. */
export function timeOfDay(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return Math.abs(atMs - nowMs) < DAY_MS ? time : `${DAYS[at.getDay()]} ${time}`;
}
