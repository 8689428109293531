/**
 * Limits the expansion of an encoded response: a few kilobytes can hold gigabytes, and minutes of
 * CPU time.
 */

const MB = 2 ** 20;
/** Up to here any ratio is accepted: a short response may be one letter a million times. */
const FREE_BYTES = 8 * MB;
/** Ratio far above that of any text, even a very repetitive one. */
const MAX_RATIO = 200;
/** Larger than any response. */
const MAX_DECODED_BYTES = 256 * MB;

/**
 * Counts a decoder's input and output. `maxBytes` is the limit of a body's output, whatever its
 * ratio; without it, those of a response apply.
 */
export class Expansion {
  readonly #maxBytes: number | undefined;
  #encodedBytes = 0;
  #decodedBytes = 0;

  constructor(maxBytes?: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds bytes that are about to be decoded. */
  in(bytes: Buffer): void {
    this.#encodedBytes += bytes.length;
  }

  /** Adds decoded bytes; returns false once they exceed the limit. */
  out(bytes: Uint8Array): boolean {
    this.#decodedBytes += bytes.length;
    if (this.#maxBytes !== undefined) return this.#decodedBytes <= this.#maxBytes;
    if (this.#decodedBytes <= FREE_BYTES) return true;
    const limit = Math.min(MAX_DECODED_BYTES, this.#encodedBytes * MAX_RATIO);
    return this.#decodedBytes <= limit;
  }
}
