/**
 * A tokenizer's word cache: a hash table in flat arrays, keyed by code units. With a Map of objects
 * most of the time for indexing prose was spent on cache misses: each word cost six dependent,
 * scattered reads, and here it costs two.
 */

/** Fixed size: growing would make the engine recompile code that was optimized for one array. */
const SLOT_BITS = 16;
const SLOTS = 2 ** SLOT_BITS;
/** Half of the slots stay empty. */
const MAX_WORDS = SLOTS / 2;
/** Size of all entries, 2 MiB: sixty-four bytes a word, twice the usual. */
const MAX_SIZE = 524_288;
/**
 * A word that finds no slot in this many steps is not cached. By chance that hardly ever happens,
 * and it stops a text with words crafted to share one hash from taking forever.
 */
const MAX_STEPS = 16;
/** A table counts as full at this share of a limit, to leave room for the next text. */
const FULL = 0.9;

/** Layout of an entry: hash, value and length of a word, four bytes each, then its code units. */
const VALUE = 1;
const LENGTH = 2;
const PREFIX_LENGTH = 3;

/** Maps words to numbers that identify their terms. */
export class WordTable {
  /** Offset in `#entries` of each slot's entry; 0 for none. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #entries = new Int32Array(MAX_SIZE);
  readonly #units = new Uint16Array(this.#entries.buffer);
  #words = 0;
  #end = PREFIX_LENGTH;

  /** True when the table should be replaced before the next text. */
  get isFull(): boolean {
    return this.#words > MAX_WORDS * FULL || this.#end > MAX_SIZE * FULL;
  }

  /**
   * Returns the value of the word `codes[start..end)` with this hash; undefined when it is unknown.
   */
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

  /** Adds an unknown word; returns false when there is no room. */
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

/**
 * Returns the slot of a hash; mixes it, as words that differ in their last letters have similar low
 * bits.
 */
function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e37_79b1) >>> (32 - SLOT_BITS);
}
