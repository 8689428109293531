/** How much an encoded answer may become: a few kilobytes can hold gigabytes, and minutes of processor time. */

const MB = 2 ** 20;
/** Up to here any ratio is believed: a short answer may be one letter a million times. */
const FREE_BYTES = 8 * MB;
/** What texts, even very repetitive ones, stay far below. */
const MAX_RATIO = 200;
/** More than any answer has. */
const MAX_DECODED_BYTES = 256 * MB;

/** Counts what goes into a decoder and what comes out. */
export class Expansion {
  #encodedBytes = 0;
  #decodedBytes = 0;

  /** Notes bytes that are about to be decoded. */
  in(bytes: Buffer): void {
    this.#encodedBytes += bytes.length;
  }

  /** Notes what came out; false once that is more than an answer becomes. */
  out(bytes: Uint8Array): boolean {
    this.#decodedBytes += bytes.length;
    if (this.#decodedBytes <= FREE_BYTES) return true;
    const limit = Math.min(MAX_DECODED_BYTES, this.#encodedBytes * MAX_RATIO);
    return this.#decodedBytes <= limit;
  }
}
