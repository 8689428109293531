/** Human-readable figures. A value that was not measured is a dash, never a zero. */
import { visible } from '../../log/visible.ts';
import { NONE, isNumber } from '../../words/amounts.ts';
import { spanOf } from '../../words/span.ts';

export { NONE, dollars, percent, share, short } from '../../words/amounts.ts';
export { spanOf } from '../../words/span.ts';

type Figure = number | null | undefined;

// Creating a formatter takes longer than rendering a whole row of the list.
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Returns `12,345`. */
export function wholeNumber(value: Figure): string {
  return isNumber(value) ? WHOLE.format(value) : NONE;
}

/** Returns `830 ms`, `2.40 s` or `3 min 20 s`. */
export function duration(ms: Figure): string {
  if (!isNumber(ms)) return NONE;
  if (ms === 0) return '0 ms';
  if (ms < 0.01) return '<0.01 ms';
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return spanOf(ms / 1000);
}

/** Returns the local time of day, with the date if it is not today. */
export function time(iso: string): string {
  const at = new Date(iso);
  const clock = CLOCK.format(at);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? clock : `${DAY.format(at)} ${clock}`;
}

/** Returns bytes as `3.2 MB`. */
export function bytes(value: Figure): string {
  if (!isNumber(value)) return NONE;
  const units = ['B', 'kB', 'MB', 'GB'];
  let size = value;
  let unit = 0;
  for (; size >= 1000 && unit < units.length - 1; unit += 1) size /= 1000;
  return `${size.toFixed(unit === 0 || size >= 100 ? 0 : 1)} ${units[unit]}`;
}

/**
 * Returns an untrusted text with characters that would reorder or restyle its surroundings escaped;
 * else a dash.
 */
export function orDash(value: string | null | undefined): string {
  return value === null || value === undefined || value === '' ? NONE : visible(value);
}
