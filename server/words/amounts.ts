/**
 * Formats money and shares for people, on the page and on the terminal. An unmeasured value is a
 * dash, never a zero. Loading this creates no formatter, since every command loads it.
 */

export const NONE = '–';

/** Formats dollars, with fewer decimals for larger amounts. */
export function dollars(value: unknown): string {
  if (!isNumber(value)) return NONE;
  if (value === 0) return '$0';
  const size = Math.abs(value);
  const sign = value < 0 ? '−' : '';
  if (size < 0.0001) return `${sign}<$0.0001`;
  if (size >= 100) return `${sign}$${grouped(Math.round(size))}`;
  return `${sign}$${size.toFixed(size >= 1 ? 2 : 4)}`;
}

/** `12,345`: a formatter takes some 20 ms to make, longer than a whole statusline. */
function grouped(whole: number): string {
  const digits = whole.toFixed(0);
  const first = digits.length % 3;
  const groups = digits.slice(first).match(/\d{3}/g) ?? [];
  return [...(first > 0 ? [digits.slice(0, first)] : []), ...groups].join(',');
}

/** Formats a percentage. */
export function percent(value: unknown): string {
  if (!isNumber(value)) return NONE;
  if (value !== 0 && Math.abs(value) < 0.05) return `${value < 0 ? '−' : ''}<0.1%`;
  return `${value.toFixed(Math.abs(value) < 10 && value !== 0 ? 1 : 0)}%`;
}

/** Formats a share from 0 to 1 as a percentage. */
export function share(value: unknown): string {
  return percent(isNumber(value) ? value * 100 : null);
}

/** Formats `12,345`, and from a hundred thousand on `123.5K`. */
export function short(value: number | null | undefined): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  // Neither call creates a throwaway formatter.
  if (size < 100_000) return Math.round(value).toLocaleString('en-US');
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
