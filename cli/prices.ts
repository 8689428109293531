/** How prices and sizes of models are written in a table. */

/** A whole number; a dash where it is not known. */
export function whole(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US');
}

/** US dollars, as short as six digits allow; a dash where they are not known. */
export function usd(value: number | null): string {
  return value === null ? '–' : String(Number(value.toPrecision(6)));
}
