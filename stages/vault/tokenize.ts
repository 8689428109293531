/**
 * Text to search terms, the same for blocks and for queries.
 *
 * A plain word becomes its lower-case stem, unless it is a stop word. A compound, such
 * as `indexFolder`, `raw_tokens`, `HTTPServer` or `src/vault/walk.ts`, becomes one term
 * per part and one for the whole, lower-cased and unstemmed, so that it is found by a
 * part of its name and best by its full name.
 *
 * Terms hold letters, digits and `_ $ - . /` only. Storage relies on that: it writes
 * counts behind a `!`, which sorts before all of these.
 */
import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';

/** Longer words and names are encoded data, and are left out. */
const MAX_TERM_CHARS = 64;
/** A count needs no more than this: BM25 is flat long before. Storage packs it in one byte. */
export const MAX_TERM_COUNT = 255;

const LOWER = 1;
const UPPER = 2;
const DIGIT = 4;
const MARK = 8;
const JOINER = 16;
const WIDE = 32;
const WORD = LOWER | UPPER | DIGIT | MARK | WIDE;

/** How often each term stands in a text, and how many terms the text has in all. */
export interface TermCounts {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** A word of a text that a query asked for. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

/** A tokenizer with its own cache of stems; make one per worker or per index. */
export interface Tokenizer {
  /** The terms of `text` in order, with repetitions. */
  terms(text: string): string[];
  /** The words of `text` that give one of `terms`: start and end offsets, and the term. */
  locate(text: string, terms: ReadonlySet<string>): Hit[];
  /** The terms of several texts counted together; counts are capped at 255, the length is not. */
  count(...texts: string[]): TermCounts;
}

type Emit = (term: string, start: number, end: number) => void;

/** Words whose terms are remembered; a text uses few words often. */
const CACHED_WORDS = 30_000;

/** Makes a tokenizer. Its cache takes a few megabytes at most. */
export function createTokenizer(): Tokenizer {
  const classes = buildClasses();
  const known = new Map<string, readonly string[]>();
  const termsOf = (word: string, seen: number): readonly string[] => {
    const cached = known.get(word);
    if (cached !== undefined) return cached;
    if (word.length > MAX_TERM_CHARS) return wordTerms(word, seen);
    // A copy: what is remembered must not keep the text alive that it was sliced from.
    const own = Buffer.from(word, 'utf16le').toString('utf16le');
    const made = wordTerms(own, seen);
    if (known.size >= CACHED_WORDS) known.clear();
    known.set(own, made);
    return made;
  };
  const scan = (text: string, emit: Emit): void => {
    const end = text.length;
    let index = 0;
    while (index < end) {
      if ((classAt(classes, text, index) & WORD) === 0) {
        index++;
        continue;
      }
      const start = index;
      let seen = 0;
      while (index < end) {
        const kind = classAt(classes, text, index);
        if ((kind & WORD) === 0 && !joins(classes, text, index, kind)) break;
        seen |= kind;
        index++;
      }
      for (const term of termsOf(text.slice(start, index), seen)) emit(term, start, index);
    }
  };
  return {
    terms(text) {
      const found: string[] = [];
      scan(text, (term) => found.push(term));
      return found;
    },
    locate(text, terms) {
      const hits: Hit[] = [];
      scan(text, (term, start, end) => {
        if (terms.has(term) && hits.at(-1)?.start !== start) hits.push({ start, end, term });
      });
      return hits;
    },
    count(...texts) {
      const counts = new Map<string, number>();
      let length = 0;
      for (const text of texts) {
        scan(text, (term) => {
          length++;
          counts.set(term, Math.min((counts.get(term) ?? 0) + 1, MAX_TERM_COUNT));
        });
      }
      return { counts, length };
    },
  };
}

/** A joiner belongs to the word when word characters stand on both sides of it. */
function joins(classes: Uint8Array, text: string, index: number, kind: number): boolean {
  return (
    (kind & JOINER) !== 0 &&
    index + 1 < text.length &&
    (classAt(classes, text, index + 1) & WORD) !== 0
  );
}

/** The terms of one word, whose characters are of the classes `seen`. */
function wordTerms(word: string, seen: number): readonly string[] {
  if ((seen & (JOINER | MARK)) === 0 && !hasInnerCase(word)) {
    return word.length > MAX_TERM_CHARS ? [] : plainTerm(word);
  }
  const parts = splitCompound(word);
  const number = (seen & WORD) === DIGIT;
  const terms = number
    ? []
    : parts.filter((part) => part.length <= MAX_TERM_CHARS).flatMap(plainTerm);
  // Not for words that only a hyphen joins: prose spells "boundary layer" both ways, and the
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

/** True where a capital stands behind the first letter of a word that is not all capitals. */
function hasInnerCase(word: string): boolean {
  if (word.length < 2) return false;
  const rest = word.slice(1);
  if (rest === rest.toLowerCase()) return false;
  return word !== word.toUpperCase();
}

/** `parseHTTPBody_v2` to `parse`, `HTTP`, `Body`, `v2`. */
function splitCompound(word: string): string[] {
  return word
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_$./-]+/)
    .filter((part) => part !== '');
}

function classAt(classes: Uint8Array, text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return classes[code]!;
  return classes[code]! !== 0 ? classes[code]! : classify(classes, code);
}

/** What is not known yet is 0; blanks get a bit that no test asks for. */
const OTHER = 64;

function classify(classes: Uint8Array, code: number): number {
  const char = String.fromCharCode(code);
  // Halves of surrogate pairs are letters of some alphabet far more often than not.
  const wide = (code >= 0xd800 && code <= 0xdfff) || /[\p{L}\p{N}\p{M}]/u.test(char);
  const kind = wide ? WIDE : OTHER;
  classes[code] = kind;
  return kind;
}

function buildClasses(): Uint8Array {
  const table = new Uint8Array(65_536);
  table.fill(OTHER, 0, 128);
  table.fill(LOWER, 97, 123);
  table.fill(UPPER, 65, 91);
  table.fill(DIGIT, 48, 58);
  for (const mark of '_$') table[mark.charCodeAt(0)] = MARK;
  for (const joiner of '-./') table[joiner.charCodeAt(0)] = JOINER;
  return table;
}
