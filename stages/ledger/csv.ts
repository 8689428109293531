/** CSV for exporting the ledger's figures to other programs (RFC 4180). */

/** Returns a line with its line ending, from encoded cells. */
export function csvLineOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/**
 * Encodes a text as a cell. A client's name may begin like a formula, which a spreadsheet would
 * evaluate: an apostrophe before it makes it a text (OWASP, CSV injection).
 */
export function csvCell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/**
 * Formats whole nano-dollars as dollars, exact and without an exponent; with at least two decimals.
 */
export function exactUsd(nanoUsd: number): string {
  const digits = String(Math.abs(nanoUsd)).padStart(10, '0');
  const decimals = digits.slice(-9).replace(/0{1,7}$/, '');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -9)}.${decimals}`;
}
