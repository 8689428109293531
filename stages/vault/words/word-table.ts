/**
 * The words that a tokenizer remembers: a hash table in flat arrays, keyed by code units.
 * With a Map of objects most of the time of indexing prose was spent waiting for memory:
 * each word cost six dependent reads from places far apart, and here it costs two.
 */

/** Nothing here grows: code that is compiled for one array is compiled again for another. */
const SLOT_BITS = 16;
const SLOTS = 2 ** SLOT_BITS;
/** Half of the slots stay empty. */
const MAX_WORDS = SLOTS / 2;
/** All entries together, 2 MiB: sixty-four bytes a word, twice of what is usual. */
const MAX_SIZE = 524_288;
/**
 * A word that finds no slot in as many steps is not remembered. It hardly ever happens by
 * chance, and keeps a text whose words were made to share one hash from taking forever.
 */
const MAX_STEPS = 16;
/** At this share of a limit a table is full: the next text needs room as well. */
const FULL = 0.9;

/** An entry: hash, value and length of a word, in four bytes each, and its code units. */
const VALUE = 1;
const LENGTH = 2;
const PREFIX_LENGTH = 3;

/** Words, with a number each that says what they give. */
export class WordTable {
  /** Where in `#entries` the entry of a slot begins; 0 where there is none. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #entries = new Int32Array(MAX_SIZE);
  readonly #units = new Uint16Array(this.#entries.buffer);
  #words = 0;
  #end = PREFIX_LENGTH;

  /** True when it should be replaced before the next text. */
  get isFull(): boolean {
    return this.#words > MAX_WORDS * FULL || this.#end > MAX_SIZE * FULL;
  }

  /** The value of the word `codes[start..end)` with this hash; undefined when it is not known. */
  get(codes: Uint16Array, start: number, end: number, hash: number): number | undefined {
    const entries = this.#entries;
    const length = end - start;
    const slots = this.#slots;
    let slot = slotOf(hash);
    for (let step = 0; step < MAX_STEPS; step++) {
      const entry = slots[slot]!;
      if (entry === 0) return undefined;
      if (entries[entry] === hash && entries[entry + LENGTH] === length) {
        const units = this.#units;
        const from = 2 * (entry + PREFIX_LENGTH) - start;
        let at = start;
        while (at < end && units[from + at] === codes[at]) at++;
        if (at === end) return entries[entry + VALUE]!;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    return undefined;
  }

  /** Remembers a word that is not known yet; false when there is no room for it. */
  add(word: Uint16Array, hash: number, value: number): boolean {
    const entry = this.#end;
    const end = entry + PREFIX_LENGTH + Math.ceil(word.length / 2);
    if (this.#words === MAX_WORDS || end > MAX_SIZE) return false;
    let slot = slotOf(hash);
    for (let step = 0; step < MAX_STEPS; step++) {
      if (this.#slots[slot] === 0) {
        this.#slots[slot] = entry;
        this.#entries.set([hash, value, word.length], entry);
        this.#units.set(word, 2 * (entry + PREFIX_LENGTH));
        this.#words++;
        this.#end = end;
        return true;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    return false;
  }
}

/** Words differ in their last letters, which the low bits of the hash tell too little apart. */
function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e37_79b1) >>> (32 - SLOT_BITS);
}
