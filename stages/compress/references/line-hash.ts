/** Keys by which lines, and runs of three lines, are looked up. */

/** A 32-bit hash of a line (FNV-1a over UTF-16 units). */
export function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** A key of the three lines from `line` on. */
export function hashRun(hashes: readonly number[], at: number): number {
  // Three 32-bit hashes mixed into a number below 2^53; equal keys are compared line by line.
  return (
    (Math.imul(hashes[at]!, 31) ^ hashes[at + 1]!) * 2097151 +
    ((hashes[at + 2]! ^ (hashes[at]! >>> 7)) & 0x1fffff)
  );
}
