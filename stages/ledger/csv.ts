/** CSV as the ledger's figures leave it for other programs (RFC 4180). */

/** A line with its end, of cells that are written already. */
export function csvLineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/**
 * A text as a cell. What a client named may begin like a formula, which a spreadsheet would
 * compute: an apostrophe before it makes it a text (OWASP, CSV injection).
 */
export function csvCell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Whole nano-dollars as dollars, to the last digit and without an exponent; cents at least. */
export function exactUsd(nanoUsd: number): string {
  const digits = String(Math.abs(nanoUsd)).padStart(10, '0');
  const decimals = digits.slice(-9).replace(/0{1,7}$/, '');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -9)}.${decimals}`;
}
