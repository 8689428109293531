/** What each character is to the tokenizer, by its UTF-16 code unit. */

const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
export const MARK = 8;
/** Belongs to a word when word characters stand on both sides of it. */
export const JOINER = 16;
/** A letter, digit or mark beyond ASCII. */
export const WIDE = 32;
export const WORD = LOWER | UPPER | DIGIT | MARK | WIDE;
/** What is not known yet is 0; blanks get a bit that no test asks for. */
const OTHER = 64;

/** A table of the classes by code unit; 0 where `classify` has not been asked yet. */
export function createClasses(): Uint8Array {
  const table = new Uint8Array(65_536);
  table.fill(OTHER, 0, 128);
  table.fill(LOWER, 97, 123);
  table.fill(UPPER, 65, 91);
  table.fill(DIGIT, 48, 58);
  for (const mark of '_$') table[mark.charCodeAt(0)] = MARK;
  for (const joiner of '-./') table[joiner.charCodeAt(0)] = JOINER;
  return table;
}

/** The class of a code unit beyond ASCII, which is written into the table. */
export function classify(classes: Uint8Array, code: number): number {
  const char = String.fromCharCode(code);
  // Halves of surrogate pairs are letters of some alphabet far more often than not.
  const wide = (code >= 0xd800 && code <= 0xdfff) || /[\p{L}\p{N}\p{M}]/u.test(char);
  const kind = wide ? WIDE : OTHER;
  classes[code] = kind;
  return kind;
}
