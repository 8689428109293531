/**
 * Converts one word to its terms, as described in `tokenize.ts`; uncached and not speed-critical.
 */
import { DIGIT, JOINER, MARK, UPPER, WIDE, WORD } from './characters.ts';
import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';
import { wideParts } from './wide-words.ts';

/** Longer words and names are encoded data, and are skipped. */
export const MAX_TERM_CHARS = 64;

/** The terms of a word. */
export interface WordTerms {
  readonly terms: readonly string[];
  /**
   * Start and end in the word of each of `terms` in turn; absent where each covers the whole word.
   */
  readonly offsets?: readonly number[];
}

/** Returns the terms of one word, in order; `seen` are the classes of its characters. */
export function termsOf(word: string, seen: number): WordTerms {
  if ((seen & WIDE) === 0) return { terms: partTerms(word, seen) };
  const offsets: number[] = [];
  const terms = wideParts(word).flatMap(({ text, start, end, isTerm }) => {
    const own = isTerm ? [text] : partTerms(text, seen);
    for (let count = 0; count < own.length; count++) offsets.push(start, end);
    return own;
  });
  return { terms, offsets };
}

function partTerms(word: string, seen: number): readonly string[] {
  const isPlain = (seen & (JOINER | MARK)) === 0;
  if (isPlain && ((seen & (UPPER | WIDE)) === 0 || !hasInnerCase(word))) {
    return word.length > MAX_TERM_CHARS ? [] : plainTerm(word);
  }
  const parts = splitCompound(word);
  const number = (seen & WORD) === DIGIT;
  const terms = number
    ? []
    : parts.filter((part) => part.length <= MAX_TERM_CHARS).flatMap(plainTerm);
  // Not for words joined only by hyphens: prose spells "boundary layer" both ways, and the
  // whole forms would count the hyphenated ones twice (0.385 to 0.376 on Cranfield).
  const whole = parts.length > 1 && word.length <= MAX_TERM_CHARS && !isHyphenated(word);
  return whole ? [...terms, word.toLowerCase()] : terms;
}

function plainTerm(word: string): string[] {
  const lower = word.toLowerCase();
  return stopWords.has(lower) ? [] : [stem(lower)];
}

function isHyphenated(word: string): boolean {
  return word.includes('-') && !/[_$./]/.test(word);
}

/** Returns true if a capital follows the first letter of a word that is not all capitals. */
function hasInnerCase(word: string): boolean {
  if (word.length < 2) return false;
  const rest = word.slice(1);
  if (rest === rest.toLowerCase()) return false;
  return word !== word.toUpperCase();
}

/** Splits `parseHTTPBody_v2` into `parse`, `HTTP`, `Body`, `v2`. */
function splitCompound(word: string): string[] {
  return word
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_$./-]+/)
    .filter((part) => part !== '');
}
