/**
 * Credentials that stand in lists and tables: a column of passwords, the codes that let
 * somebody back in, the words that a wallet is made of again.
 */
import { isLiteral, PASSWORD_HINT, PASSWORD_NAME } from './stand-in.ts';

/** A run of lines, counted from 1, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

const COLUMN = new RegExp(`^(?:[\\p{L}\\d]{1,16}[ _-]){0,3}(?:${PASSWORD_NAME}s?|secret)$`, 'iu');
const SECRET = /secret/i;
/** What any column may be called. */
const COLUMN_NAME = /^\p{L}[^,;()[\]{}=<>]{0,40}$/u;
/** A table's head is no longer than this. */
const MAX_HEADER_CHARS = 4_000;
/** A table has no more columns than this; what is behind them is not looked at. */
const MAX_COLUMNS = 64;
const MARKS = ['\t', '|', ';', ','] as const;
/** What a table says about passwords instead of giving them. */
const VERDICT = /^(?:[-–—:✓✔✗✘×xX?]+|(?:yes|no|ja|nein|oui|non|n\/?a)\b.*)$/iu;

/** The rows of tables that have a column of passwords, with at least one in it. Linear in the text's length. */
export function passwordRowsIn(text: string, lines: readonly string[]): LineRange[] {
  if (!hasColumnWord(text)) return [];
  const found: LineRange[] = [];
  for (let at = 0; at < lines.length; at++) {
    const header = headerOf(lines[at]!);
    if (header === undefined) continue;
    const from = at + 2;
    let given = 0;
    for (; at + 1 < lines.length && lines[at + 1]!.includes(header.mark); at++) {
      const cell = cellsOf(lines[at + 1]!, header.mark)[header.column] ?? '';
      if (isGiven(cell)) given++;
    }
    if (given > 0) found.push({ from, to: at + 1 });
  }
  return found;
}

function headerOf(line: string): { mark: string; column: number } | undefined {
  if (line.length > MAX_HEADER_CHARS || !hasColumnWord(line)) return undefined;
  const mark = MARKS.find((one) => line.includes(one));
  if (mark === undefined) return undefined;
  const cells = cellsOf(line, mark);
  const names = cells.filter((cell) => cell !== '');
  // A sentence and code have such marks too, but no two names between them.
  if (names.length < 2 || !names.every((cell) => COLUMN_NAME.test(cell))) return undefined;
  const column = cells.findIndex((cell) => COLUMN.test(cell));
  return column < 0 ? undefined : { mark, column };
}

function hasColumnWord(text: string): boolean {
  return PASSWORD_HINT.test(text) || SECRET.test(text);
}

function cellsOf(line: string, mark: string): string[] {
  return line.split(mark, MAX_COLUMNS).map((cell) => cell.replaceAll(/["'`*]/g, '').trim());
}

function isGiven(cell: string): boolean {
  return !VERDICT.test(cell) && (isLiteral(cell) || /^\d{4,12}$/.test(cell));
}

const CODES_NAME =
  /(?:code|key|hlüssel)(?<=\b(?:recovery|backup|scratch|emergency|restore|one-?time|2fa|two-factor|wiederherstellungs|sicherheits|notfall)[ _-]{0,2}(?:code|key|schlüssel))/i;
/** `1234-5678`, `abcd1-efgh2`, `12345678`: alone on its line, or beside others of its kind. */
const CODE_LINE =
  /^[ \t]{0,16}(?:[-*•☐]|\[[ x]?\]|\d{1,2}[.):])?[ \t]{0,8}(?=[^\n]{0,64}\d)`?[a-z0-9]{4,12}(?:[- ][a-z0-9]{4,12}){0,7}`?(?:[ \t,]{1,8}`?[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,7}`?){0,7}[ \t]{0,8}\r?$/gim;
/** Fewer are no set of codes. */
const MIN_CODES = 4;

const PHRASE_NAME =
  /(?:seed|recovery|wallet|backup|secret)[ _-]?(?:phrase|words|seed)|mnemonic(?:[ _-]?phrase)?/gi;
/** The words of such phrases have three to eight letters; in a sentence a dozen of that kind never follow each other. */
const PHRASE =
  /^["']?[ \t]{0,16}(?:is\b)?[ \t]{0,8}[:=]?\s{0,64}["'`[]{0,3}(?:(?:\d{1,2}[.):]?[ \t]{0,8})?["']?[a-z]{3,8}["']?[\s,]{1,8}){11,23}(?:\d{1,2}[.):]?[ \t]{0,8})?["']?[a-z]{3,8}\b/;
/** Twenty-four words with what may stand around each of them. */
const MAX_PHRASE_CHARS = 1_000;
const ONE_TIME_KEY =
  /\botpauth(?:-migration)?:\/\/[^\s"'<>]{1,500}[?&](?:secret|data)=[\w%+/=-]{8}/i;

/** True when `text` has a list or a table of credentials in it. */
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
