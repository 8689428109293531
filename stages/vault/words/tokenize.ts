/**
 * Converts text to search terms, the same for blocks and for queries.
 *
 * A plain word becomes its lower-case stem, unless it is a stop word. A compound, such
 * as `indexFolder`, `raw_tokens`, `HTTPServer` or `src/vault/walk.ts`, becomes one term
 * per part and one for the whole, lower-cased and unstemmed, so that it is found by a
 * part of its name and best by its full name. Letters beyond ASCII: `wide-words.ts`.
 *
 * Terms contain letters, digits and `_ $ - . /` only. Storage relies on that: it writes
 * counts after a `!`, which sorts before all of these.
 */
import { classify, createClasses, JOINER, WORD } from './characters.ts';
import { Tallies } from './tallies.ts';
import { MAX_TERM_CHARS, termsOf } from './word-terms.ts';
import { WordTable } from './word-table.ts';

/** The distinct terms of a text with their counts, and its total number of terms. */
export interface TermCounts {
  /**
   * Terms separated by spaces, in order of first occurrence; a count above one follows its term as
   * `!n`, capped at 255.
   */
  readonly terms: string;
  readonly length: number;
}

/** An occurrence of a query's word in a text. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

/** A word that does not map to exactly one term covering all of it. */
interface Compound {
  readonly ids: readonly number[];
  readonly offsets: readonly number[] | undefined;
}

/** Receives a term of the text, by number, with its offsets. */
type Emit = (id: number, start: number, end: number) => void;

/** Size of the reused buffer of code units; a longer text gets its own array. */
const KEPT_UNITS = 65_536;
const NEWLINE = 10;

/** A tokenizer. Its cache takes a few megabytes at most. */
export class Tokenizer {
  readonly #classes = createClasses();
  readonly #kept = new Uint16Array(KEPT_UNITS);
  #words = new WordTable();
  #tallies = new Tallies();
  /** Compounds; a negative value in the word table is the complement of an index here. */
  #compounds: Compound[] = [];

  /** Returns the terms of `text` in order, with repetitions. */
  terms(text: string): string[] {
    const found: string[] = [];
    this.#scan([text], (id) => found.push(this.#tallies.termOf(id)));
    return found;
  }

  /**
   * Returns the words of `text` that map to one of `terms`: start and end offsets, and the term.
   */
  locate(text: string, terms: ReadonlySet<string>): Hit[] {
    const hits: Hit[] = [];
    this.#scan([text], (id, start, end) => {
      const term = this.#tallies.termOf(id);
      if (!terms.has(term)) return;
      const last = hits.at(-1);
      // Character pairs overlap, and a compound's terms share one position.
      if (last === undefined || last.end <= start) hits.push({ start, end, term });
      else if (end > last.end) hits[hits.length - 1] = { start: last.start, end, term: last.term };
    });
    return hits;
  }

  /** Counts the terms of several texts together; counts are capped at 255, the length is not. */
  count(...texts: string[]): TermCounts {
    let length = 0;
    this.#scan(texts, (id) => {
      length++;
      this.#tallies.add(id);
    });
    return { terms: this.#tallies.write(), length };
  }

  #scan(texts: readonly string[], emit: Emit): void {
    // Never within a text, whose terms are being counted under these numbers.
    if (this.#words.isFull || this.#tallies.isFull) this.#forget();
    this.#tallies.begin();
    const codes = this.#unitsOf(texts);
    const end = lengthOf(texts);
    const classes = this.#classes;
    const words = this.#words;
    let index = 0;
    while (index < end) {
      let kind = classOf(classes, codes[index]!);
      if ((kind & WORD) === 0) {
        index++;
        continue;
      }
      const start = index;
      let seen = 0;
      let hash = 7;
      // A line break follows every text, so there is a next character.
      do {
        seen |= kind;
        hash = (Math.imul(hash, 31) + codes[index]!) | 0;
        kind = classOf(classes, codes[++index]!);
      } while (
        (kind & WORD) !== 0 ||
        ((kind & JOINER) !== 0 && (classOf(classes, codes[index + 1]!) & WORD) !== 0)
      );
      const value = words.get(codes, start, index, hash);
      if (value !== undefined && value >= 0) {
        emit(value, start, index);
        continue;
      }
      const compound =
        value === undefined
          ? this.#learn(codes.subarray(start, index), hash, seen)
          : this.#compounds[~value]!;
      emitAll(compound, start, index, emit);
    }
  }

  #learn(word: Uint16Array, hash: number, seen: number): Compound {
    const { terms, offsets } = termsOf(textOf(word), seen);
    const ids = terms.map((term) => this.#tallies.idOf(term));
    const compound = { ids, offsets };
    if (word.length > MAX_TERM_CHARS) return compound;
    const isPlain = ids.length === 1 && offsets === undefined;
    const value = isPlain ? ids[0]! : ~this.#compounds.length;
    if (this.#words.add(word, hash, value) && !isPlain) this.#compounds.push(compound);
    return compound;
  }

  #forget(): void {
    [this.#words, this.#tallies, this.#compounds] = [new WordTable(), new Tallies(), []];
  }

  /** Returns the texts' code units, with a line break after each. */
  #unitsOf(texts: readonly string[]): Uint16Array {
    const needed = lengthOf(texts) + 1;
    const units = needed <= KEPT_UNITS ? this.#kept : new Uint16Array(needed);
    const bytes = Buffer.from(units.buffer);
    let at = 0;
    for (const text of texts) {
      // One copy: reading a string character by character costs as much as all the rest.
      bytes.write(text, 2 * at, 'utf16le');
      at += text.length;
      units[at++] = NEWLINE;
    }
    return units;
  }
}

/** Returns the length of texts with a line break between them, in code units. */
function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, texts.length - 1);
}

function emitAll({ ids, offsets }: Compound, start: number, end: number, emit: Emit): void {
  for (let at = 0; at < ids.length; at++) {
    if (offsets === undefined) emit(ids[at]!, start, end);
    else emit(ids[at]!, start + offsets[2 * at]!, start + offsets[2 * at + 1]!);
  }
}

function classOf(classes: Uint8Array, code: number): number {
  const kind = classes[code]!;
  return kind === 0 ? classify(classes, code) : kind;
}

/** Returns an independent string: a cached word must not keep its text alive. */
function textOf(word: Uint16Array): string {
  if (word.length <= MAX_TERM_CHARS) return String.fromCharCode(...word);
  return Buffer.from(word.buffer, word.byteOffset, word.byteLength).toString('utf16le');
}
