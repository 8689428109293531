/**
 * Finds credentials in lists and tables: a column of passwords, recovery codes, the words of a
 * wallet's recovery phrase.
 */
import { isLiteral, PASSWORD_HINT, PASSWORD_NAME } from './stand-in.ts';

/** A run of lines, counted from 1, inclusive. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

const PASSWORD_COLUMN = new RegExp(
  `^(?:[\\p{L}\\d]{1,16}[ _-]){0,3}(?:${PASSWORD_NAME}s?|secret)$`,
  'iu',
);
const SECRET = /secret/i;
/** A possible column name. */
const COLUMN_NAME = /^\p{L}[^,;()[\]{}=<>]{0,40}$/u;
/** Maximum length of a table's header row. */
const MAX_HEADER_CHARS = 4_000;
/** Maximum number of columns of a table; further ones are ignored. */
const MAX_COLUMNS = 64;
const DELIMITERS = ['\t', '|', ';', ','] as const;
/** Cells that say something about a password instead of containing it. */
const VERDICT = /^(?:[-–—:✓✔✗✘×xX?]+|(?:yes|no|ja|nein|oui|non|n\/?a)\b.*)$/iu;

/** Returns the rows of tables with a non-empty password column. Linear in the text's length. */
export function passwordRowsIn(text: string, lines: readonly string[]): LineRange[] {
  if (!hasColumnWord(text)) return [];
  const found: LineRange[] = [];
  for (let at = 0; at < lines.length; at++) {
    const header = headerOf(lines[at]!);
    if (header === undefined) continue;
    const from = at + 2;
    let valueCount = 0;
    for (; at + 1 < lines.length && lines[at + 1]!.includes(header.mark); at++) {
      const cell = cellsOf(lines[at + 1]!, header.mark)[header.column] ?? '';
      if (isValue(cell)) valueCount++;
    }
    if (valueCount > 0) found.push({ from, to: at + 1 });
  }
  return found;
}

function headerOf(line: string): { mark: string; column: number } | undefined {
  if (line.length > MAX_HEADER_CHARS || !hasColumnWord(line)) return undefined;
  const mark = DELIMITERS.find((one) => line.includes(one));
  if (mark === undefined) return undefined;
  const cells = cellsOf(line, mark);
  const names = cells.filter((cell) => cell !== '');
  // Sentences and code contain such separators too, but not between two names.
  if (names.length < 2 || !names.every((cell) => COLUMN_NAME.test(cell))) return undefined;
  const column = cells.findIndex((cell) => PASSWORD_COLUMN.test(cell));
  return column < 0 ? undefined : { mark, column };
}

function hasColumnWord(text: string): boolean {
  return PASSWORD_HINT.test(text) || SECRET.test(text);
}

function cellsOf(line: string, mark: string): string[] {
  return line.split(mark, MAX_COLUMNS).map((cell) => cell.replaceAll(/["'`*]/g, '').trim());
}

function isValue(cell: string): boolean {
  return !VERDICT.test(cell) && (isLiteral(cell) || /^\d{4,12}$/.test(cell));
}

const CODES_NAME =
  /(?:code|key|hlüssel)(?<=\b(?:recovery|backup|scratch|emergency|restore|one-?time|2fa|two-factor|wiederherstellungs|sicherheits|notfall)[ _-]{0,2}(?:code|key|schlüssel))/i;
/** `1234-5678`, `abcd1-efgh2`, `12345678`: alone on its line, or among others of its kind. */
const CODE_LINE =
  /^[ \t]{0,16}(?:[-*•☐]|\[[ x]?\]|\d{1,2}[.):])?[ \t]{0,8}(?=[^\n]{0,64}\d)`?[a-z0-9]{4,12}(?:[- ][a-z0-9]{4,12}){0,7}`?(?:[ \t,]{1,8}`?[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,7}`?){0,7}[ \t]{0,8}\r?$/gim;
/** A smaller number of such lines is not taken for a set of codes. */
const MIN_CODES = 4;

const PHRASE_NAME =
  /(?:seed|recovery|wallet|backup|secret)[ _-]?(?:phrase|words|seed)|mnemonic(?:[ _-]?phrase)?/gi;
/**
 * Words of such phrases have three to eight letters; a sentence never has a dozen such words in a
 * row.
 */
const PHRASE =
  /^["']?[ \t]{0,16}(?:is\b)?[ \t]{0,8}[:=]?\s{0,64}["'`[]{0,3}(?:(?:\d{1,2}[.):]?[ \t]{0,8})?["']?[a-z]{3,8}["']?[\s,]{1,8}){11,23}(?:\d{1,2}[.):]?[ \t]{0,8})?["']?[a-z]{3,8}\b/;
/** Length of twenty-four words with the characters around each. */
const MAX_PHRASE_CHARS = 1_000;
const ONE_TIME_KEY =
  /\botpauth(?:-migration)?:\/\/[^\s"'<>]{1,500}[?&](?:secret|data)=[\w%+/=-]{8}/i;

/** Returns true when `text` contains a list or a table of credentials. */
export function hasCredentialList(text: string): boolean {
  return (
    (text.includes('otpauth') && ONE_TIME_KEY.test(text)) ||
    (CODES_NAME.test(text) && (text.match(CODE_LINE)?.length ?? 0) >= MIN_CODES) ||
    hasPhrase(text) ||
    (hasColumnWord(text) && passwordRowsIn(text, text.split('\n')).length > 0)
  );
}

function hasPhrase(text: string): boolean {
  for (const { 0: name, index } of text.matchAll(PHRASE_NAME)) {
    const from = index + name.length;
    if (PHRASE.test(text.slice(from, from + MAX_PHRASE_CHARS))) return true;
  }
  return false;
}
