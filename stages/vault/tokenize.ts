/**
 * Text to search terms, the same for blocks and for queries.
 *
 * A plain word becomes its lower-case stem, unless it is a stop word. A compound, such
 * as `indexFolder`, `raw_tokens`, `HTTPServer` or `src/vault/walk.ts`, becomes one term
 * per part and one for the whole, lower-cased and unstemmed, so that it is found by a
 * part of its name and best by its full name. Letters beyond ASCII: `wide-words.ts`.
 *
 * Terms hold letters, digits and `_ $ - . /` only. Storage relies on that: it writes
 * counts behind a `!`, which sorts before all of these.
 */
import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';
import { wideParts } from './wide-words.ts';

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

/** The distinct terms of a text with their counts, and how many terms the text has in all. */
export interface TermCounts {
  /** Terms with blanks between, in the order they first stand in; a count above one follows its term as `!n`. */
  readonly terms: string;
  readonly length: number;
}

/** A word of a text that a query asked for. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

/** A tokenizer with its own cache of words; make one per worker or per index. */
export interface Tokenizer {
  /** The terms of `text` in order, with repetitions. */
  terms(text: string): string[];
  /** The words of `text` that give one of `terms`: start and end offsets, and the term. */
  locate(text: string, terms: ReadonlySet<string>): Hit[];
  /** The terms of several texts counted together; counts are capped at 255, the length is not. */
  count(...texts: string[]): TermCounts;
}

/** A term while it is counted: `count` is right for the run that `run` names. */
interface Tally {
  readonly term: string;
  run: number;
  count: number;
}

/** A word that was seen before, and what it gives. */
interface Word {
  readonly text: string;
  readonly tallies: readonly Tally[];
  /** Start and end in the word of each of `tallies` in turn; absent where each is all of it. */
  readonly places?: readonly number[];
}

type Emit = (tally: Tally, start: number, end: number) => void;

/** Words that are remembered; texts use few words often. */
const CACHED_WORDS = 30_000;

/** Makes a tokenizer. Its cache takes a few megabytes at most. */
export function createTokenizer(): Tokenizer {
  return new CachingTokenizer();
}

/**
 * Words are looked up by a hash of their characters that is made while they are scanned,
 * and terms are counted in place: slicing each word out and counting in a map took twice
 * as long.
 */
class CachingTokenizer implements Tokenizer {
  readonly #classes = buildClasses();
  #words = new Map<number, Word>();
  #tallies = new Map<string, Tally>();
  #run = 0;

  terms(text: string): string[] {
    const found: string[] = [];
    this.#scan(text, ({ term }) => found.push(term));
    return found;
  }

  locate(text: string, terms: ReadonlySet<string>): Hit[] {
    const hits: Hit[] = [];
    this.#scan(text, ({ term }, start, end) => {
      if (!terms.has(term)) return;
      const last = hits.at(-1);
      // Pairs of characters overlap, and a compound's terms stand in one place.
      if (last === undefined || last.end <= start) hits.push({ start, end, term });
      else if (end > last.end) hits[hits.length - 1] = { start: last.start, end, term: last.term };
    });
    return hits;
  }

  count(...texts: string[]): TermCounts {
    const run = ++this.#run;
    const distinct: Tally[] = [];
    let length = 0;
    this.#scan(texts.join('\n'), (tally) => {
      length++;
      if (tally.run === run) {
        tally.count++;
        return;
      }
      tally.run = run;
      tally.count = 1;
      distinct.push(tally);
    });
    return { terms: distinct.map(writeTally).join(' '), length };
  }

  #scan(text: string, emit: Emit): void {
    // Never in the middle of a text, whose terms are being counted in these tallies.
    if (this.#words.size > CACHED_WORDS) [this.#words, this.#tallies] = [new Map(), new Map()];
    const classes = this.#classes;
    const end = text.length;
    let index = 0;
    while (index < end) {
      if ((classAt(classes, text, index) & WORD) === 0) {
        index++;
        continue;
      }
      const start = index;
      let seen = 0;
      let hash = 7;
      while (index < end) {
        const kind = classAt(classes, text, index);
        if ((kind & WORD) === 0 && !joins(classes, text, index, kind)) break;
        seen |= kind;
        hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
        index++;
      }
      const { tallies: found, places } = this.#lookUp(text, start, index, hash, seen);
      for (let at = 0; at < found.length; at++) {
        if (places === undefined) emit(found[at]!, start, index);
        else emit(found[at]!, start + places[2 * at]!, start + places[2 * at + 1]!);
      }
    }
  }

  #lookUp(text: string, start: number, end: number, hash: number, seen: number): Word {
    const known = this.#words.get(hash);
    if (known !== undefined && isAt(known.text, text, start, end)) return known;
    const word = this.#learn(text.slice(start, end), seen);
    if (end - start <= MAX_TERM_CHARS) this.#words.set(hash, word);
    return word;
  }

  #learn(text: string, seen: number): Word {
    // A copy: what is remembered must not keep the text alive that it was sliced from.
    const own = Buffer.from(text, 'utf16le').toString('utf16le');
    if ((seen & WIDE) === 0) {
      return { text: own, tallies: wordTerms(own, seen).map((term) => this.#tallyOf(term)) };
    }
    const places: number[] = [];
    const tallies = wideParts(own).flatMap(({ text: part, start, end, isTerm }) => {
      const terms = isTerm ? [part] : wordTerms(part, seen);
      for (let count = 0; count < terms.length; count++) places.push(start, end);
      return terms.map((term) => this.#tallyOf(term));
    });
    return { text: own, tallies, places };
  }

  #tallyOf(term: string): Tally {
    const tally = this.#tallies.get(term) ?? { term, run: 0, count: 0 };
    this.#tallies.set(term, tally);
    return tally;
  }
}

function writeTally({ term, count }: Tally): string {
  return count === 1 ? term : `${term}!${Math.min(count, MAX_TERM_COUNT)}`;
}

/** `startsWith`, but several times faster for a few characters. */
function isAt(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let index = 0; index < word.length; index++) {
    if (word.charCodeAt(index) !== text.charCodeAt(start + index)) return false;
  }
  return true;
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
