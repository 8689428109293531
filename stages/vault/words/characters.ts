/** Character classes of the tokenizer, by UTF-16 code unit. */

const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
export const MARK = 8;
/** Part of a word if word characters are on both sides. */
export const JOINER = 16;
/** A letter, digit or mark beyond ASCII. */
export const WIDE = 32;
export const WORD = LOWER | UPPER | DIGIT | MARK | WIDE;
/** 0 means not yet classified; white space gets a bit that no test checks. */
const OTHER = 64;

/** Creates a table of classes by code unit; 0 where `classify` has not been called yet. */
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

/** Returns the class of a non-ASCII code unit, and writes it into the table. */
export function classify(classes: Uint8Array, code: number): number {
  const char = String.fromCharCode(code);
  // Surrogates are most often letters of some alphabet.
  const wide = (code >= 0xd800 && code <= 0xdfff) || /[\p{L}\p{N}\p{M}]/u.test(char);
  const kind = wide ? WIDE : OTHER;
  classes[code] = kind;
  return kind;
}
