/** Formats model prices for tables. */

/** Formats US dollars in at most six digits; a dash if unknown. */
export function usd(value: number | null): string {
  return value === null ? '–' : String(Number(value.toPrecision(6)));
}
