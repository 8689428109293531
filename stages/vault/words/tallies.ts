/**
 * Numbered terms, and their counts in the current text. Everything is in flat arrays: each count is
 * stored with a stamp of its text, so that nothing is cleared between texts, and the result is
 * assembled from bytes, four at a time.
 */

/** Maximum count: BM25 is flat long before, and a count fits into one byte in storage and here. */
const MAX_COUNT = 255;
const COUNT_BITS = 8;
/** Number of stamps that fit beside a count. */
const MAX_TEXTS = 2 ** (32 - COUNT_BITS) - 1;
/** Limits the table: words too long to be cached add terms too. */
const MAX_TERMS = 100_000;
/**
 * Initial capacity, which takes no memory until it is used: growing would make the engine recompile
 * code that was optimized for one array.
 */
const FIRST_TERMS = 32_768;
/** A `!`, the digits of the highest count, and the overrun of a copy by fours. */
const SPARE_BYTES = 8;

const BLANK = 32;
const COUNT_MARK = 33;
const ZERO = 48;

/** Terms by number. Numbers count from 0 and are never reused. */
export class Tallies {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  /** Stamp and count of each term. */
  #counts = new Uint32Array(FIRST_TERMS);
  /** Offset and length of each term's bytes. */
  #extents = new Uint32Array(2 * FIRST_TERMS);
  /** The distinct terms of the current text, in order of first occurrence. */
  #order = new Uint32Array(FIRST_TERMS);
  #distinct = 0;
  #stamp = 0;
  /** The bytes of the terms, each followed by a space; none for a term that is not all ASCII. */
  #bytes = createView(8 * FIRST_TERMS);
  #used = 0;
  #out = createView(65_536);

  /** True when the tallies should be replaced before the next text. */
  get isFull(): boolean {
    return this.#terms.length > MAX_TERMS || this.#stamp === MAX_TEXTS;
  }

  /** Returns the number of a term; assigns one to a new term. */
  idOf(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const id = this.#terms.length;
    this.#ids.set(term, id);
    this.#terms.push(term);
    if (id === this.#order.length) {
      this.#order = enlargedArray(this.#order);
      this.#counts = enlargedArray(this.#counts);
      this.#extents = enlargedArray(this.#extents);
    }
    this.#extents[2 * id] = this.#used;
    this.#extents[2 * id + 1] = this.#keepBytes(term);
    return id;
  }

  /** Returns the term with this number. */
  termOf(id: number): string {
    return this.#terms[id]!;
  }

  /** Begins a text. */
  begin(): void {
    this.#stamp++;
    this.#distinct = 0;
  }

  /** Increments the count of a term. */
  add(id: number): void {
    const counts = this.#counts;
    const known = counts[id]!;
    if (known >>> COUNT_BITS !== this.#stamp) {
      counts[id] = (this.#stamp << COUNT_BITS) | 1;
      this.#order[this.#distinct++] = id;
    } else if ((known & MAX_COUNT) !== MAX_COUNT) {
      counts[id] = known + 1;
    }
  }

  /** Returns the text's terms in the form of `TermCounts`. */
  write(): string {
    const [order, extents, bytes] = [this.#order, this.#extents, this.#bytes];
    let out = this.#out;
    let at = 0;
    for (let index = 0; index < this.#distinct; index++) {
      const id = order[index]!;
      const from = extents[2 * id]!;
      const size = extents[2 * id + 1]!;
      if (size === 0) return this.#join();
      if (at + size + SPARE_BYTES > out.byteLength) out = this.#out = enlargedView(out);
      for (let byte = 0; byte < size; byte += 4) {
        out.setInt32(at + byte, bytes.getInt32(from + byte, true), true);
      }
      at += size;
      const count = this.#countOf(id);
      if (count > 1) at = writeCount(out, at - 1, count);
    }
    return Buffer.from(out.buffer).toString('latin1', 0, Math.max(0, at - 1));
  }

  /** Does the same for a text with a term that is not all ASCII. */
  #join(): string {
    return Array.from(this.#order.subarray(0, this.#distinct), (id) => {
      const count = this.#countOf(id);
      return count === 1 ? this.#terms[id]! : `${this.#terms[id]!}!${count}`;
    }).join(' ');
  }

  #countOf(id: number): number {
    return this.#counts[id]! & MAX_COUNT;
  }

  /** Stores a term's bytes and returns their number, space included; 0 when it is not all ASCII. */
  #keepBytes(term: string): number {
    const size = term.length + 1;
    const from = this.#used;
    while (from + size + SPARE_BYTES > this.#bytes.byteLength)
      this.#bytes = enlargedView(this.#bytes);
    for (let at = 0; at < term.length; at++) {
      const code = term.charCodeAt(at);
      if (code > 127) return 0;
      this.#bytes.setUint8(from + at, code);
    }
    this.#bytes.setUint8(from + size - 1, BLANK);
    this.#used += size;
    return size;
  }
}

/** Writes `!`, the count and a space at `from`; returns the offset after them. */
function writeCount(out: DataView, from: number, count: number): number {
  let at = from;
  out.setUint8(at++, COUNT_MARK);
  if (count > 99) out.setUint8(at++, ZERO + Math.floor(count / 100));
  if (count > 9) out.setUint8(at++, ZERO + (Math.floor(count / 10) % 10));
  out.setUint8(at++, ZERO + (count % 10));
  out.setUint8(at++, BLANK);
  return at;
}

function createView(bytes: number): DataView<ArrayBuffer> {
  return new DataView(new ArrayBuffer(bytes));
}

function enlargedView(view: DataView<ArrayBuffer>): DataView<ArrayBuffer> {
  const made = createView(view.byteLength * 2);
  new Uint8Array(made.buffer).set(new Uint8Array(view.buffer));
  return made;
}

function enlargedArray(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const made = new Uint32Array(array.length * 2);
  made.set(array);
  return made;
}
