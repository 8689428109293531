/** How prices of models are written in a table. */

/** US dollars, as short as six digits allow; a dash where they are not known. */
export function usd(value: number | null): string {
  return value === null ? '–' : String(Number(value.toPrecision(6)));
}
