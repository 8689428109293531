/** Compares the beginnings of two buffers. */

/** Bytes compared at once: a call costs as much as comparing some thousand bytes. */
const PIECE_BYTES = 64 * 1024;

/** Returns how many leading bytes both have in common. */
export function sharedBytes(one: Buffer, other: Buffer): number {
  const limit = Math.min(one.length, other.length);
  let shared = 0;
  for (let piece = PIECE_BYTES; shared < limit && piece >= 1;) {
    const end = Math.min(limit, shared + piece);
    if (one.compare(other, shared, end, shared, end) === 0) shared = end;
    else piece = Math.floor(piece / 2);
  }
  return shared;
}
