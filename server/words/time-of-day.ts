/** A moment that is near, as the user's clock shows it. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const DAY_MS = 24 * 3600 * 1000;

/** `16:40`, with the weekday where it is not within a day. */
export function timeOfDay(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return Math.abs(atMs - nowMs) < DAY_MS ? time : `${DAYS[at.getDay()]} ${time}`;
}
