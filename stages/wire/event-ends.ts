/**
 * Finds the ends of server-sent events in bytes; the only place that implements this.
 *
 * An event ends with a blank line, of LF, CRLF or CR. A CR that completes one may be the first half
 * of a CRLF, so the next byte decides; after another CR it counts at once, so that a stream of bare
 * CRs is not delayed. The cuts depend on the bytes alone, never on how they were split into chunks.
 */

export const LF = 0x0a;
export const CR = 0x0d;
/**
 * Context at the start of a stream: the last three bytes as one number, set so that a line end
 * counts as a blank line.
 */
export const NOTHING_BEFORE = 0x0a0a0a;

/** Returns true if `bytes` end with an event, so that another may follow. */
export function endsEvent(bytes: Buffer): boolean {
  // The bytes before are unknown: assume no line end.
  return isEnd(bytes, bytes.length - 1, 0);
}

/**
 * Returns true if an event ends after the byte at `i`; `before` are the bytes preceding the first.
 */
export function isEnd(bytes: Buffer, i: number, before: number): boolean {
  const byte = byteAt(bytes, i, before);
  if (byte !== LF && byte !== CR) return false;
  const previous = byteAt(bytes, i - 1, before);
  if (byte === CR) {
    if (previous === CR) return true;
    const next = bytes[i + 1];
    return previous === LF && next !== undefined && next !== LF;
  }
  if (previous === LF) return true;
  if (previous !== CR) return false;
  const earlier = byteAt(bytes, i - 2, before);
  return earlier === LF || earlier === CR;
}

function byteAt(bytes: Buffer, i: number, before: number): number | undefined {
  return i >= 0 ? bytes[i] : (before >> (8 * (-1 - i))) & 0xff;
}

export function lastThree(bytes: Buffer, before: number): number {
  let last = before;
  for (let i = Math.max(0, bytes.length - 3); i < bytes.length; i += 1)
    last = ((last << 8) | bytes[i]!) & 0xffffff;
  return last;
}

/** Returns the end of the first event after `from` in `bytes[from, stop)`, or -1. */
export function nextEnd(bytes: Buffer, from: number, stop: number, before: number): number {
  let i = from;
  while (i < stop) {
    const lfAt = bytes.indexOf(LF, i);
    const lf = lfAt < 0 || lfAt >= stop ? stop : lfAt;
    const cr = bytes.subarray(i, lf).indexOf(CR);
    const end = cr < 0 ? lf : i + cr;
    if (end < stop && isEnd(bytes, end, before)) return end + 1;
    i = end + 1;
  }
  return -1;
}

/**
 * Returns the end of the last event in `bytes`, possibly before their first byte, or -1. Most reads
 * end with an event.
 */
export function lastEnd(bytes: Buffer, before: number): number {
  let lf = bytes.length - 1;
  if (isEnd(bytes, lf, before)) return bytes.length;
  lf = bytes.lastIndexOf(LF);
  let cr = bytes.lastIndexOf(CR);
  while (lf >= 0 || cr >= 0) {
    const end = Math.max(lf, cr);
    if (isEnd(bytes, end, before)) return end + 1;
    // `lastIndexOf` would count a negative offset from the end.
    if (end === lf) lf = end === 0 ? -1 : bytes.lastIndexOf(LF, end - 1);
    else cr = end === 0 ? -1 : bytes.lastIndexOf(CR, end - 1);
  }
  // The first byte may show that a CR before it ended a line.
  return isCrEnd(bytes, before) ? 0 : -1;
}

function isCrEnd(bytes: Buffer, before: number): boolean {
  return (before & 0xffff) === ((LF << 8) | CR) && bytes[0] !== LF;
}
