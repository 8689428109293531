/**
 * Finds the few lines of a stream that say something about usage, without reading the
 * others. Each search is one native call over a whole chunk, so a burst of events costs
 * next to nothing; what makes it fast is a needle whose first byte is rare in JSON, such as
 * `_tokens"` (with a leading quote the same search is a hundred times slower).
 */

export interface NeedleScanner {
  /** Takes the next bytes, in any split, and hands over every completed line that holds a needle, without its end. */
  push(bytes: Buffer, onLine: (line: Buffer) => void): void;
  /** The unfinished last line, if it holds a needle. */
  rest(): Buffer | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * A scanner for lines (ended by LF, CR or both) that hold one of `needles`. A line that
 * spans more than one chunk and grows beyond `maxLineBytes` (1 MiB unless told) is passed over.
 */
export function createNeedleScanner(
  needles: readonly Buffer[],
  { maxLineBytes = 1024 * 1024 }: { readonly maxLineBytes?: number } = {},
): NeedleScanner {
  let carried: Buffer[] = [];
  let carriedBytes = 0;

  const carry = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    carriedBytes += bytes.length;
    if (carriedBytes <= maxLineBytes) carried.push(bytes);
    else carried = [];
  };
  const takeCarried = (tail: Buffer): Buffer | undefined => {
    const isWhole = carriedBytes + tail.length <= maxLineBytes;
    const line = isWhole ? Buffer.concat([...carried, tail]) : undefined;
    carried = [];
    carriedBytes = 0;
    return line !== undefined && holdsAny(line, needles) ? line : undefined;
  };

  return {
    push(bytes, onLine) {
      let start = 0;
      if (carriedBytes > 0) {
        const end = nextLineEnd(bytes, 0, bytes.length);
        if (end < 0) return carry(bytes);
        const line = takeCarried(bytes.subarray(0, end));
        if (line !== undefined) onLine(line);
        start = end + 1;
      }
      const stop = lastLineEnd(bytes, start) + 1;
      if (stop > start) scan(bytes, start, stop, needles, onLine);
      carry(bytes.subarray(Math.max(start, stop)));
    },
    rest() {
      if (carried.length === 0) return undefined;
      const line = carried.length === 1 ? carried[0]! : Buffer.concat(carried);
      carried = [line];
      return holdsAny(line, needles) ? line : undefined;
    },
  };
}

/** Hands over the lines of `bytes[start, stop)` that hold a needle; `stop` is just after a line's end. */
function scan(
  bytes: Buffer,
  start: number,
  stop: number,
  needles: readonly Buffer[],
  onLine: (line: Buffer) => void,
): void {
  let from = start;
  let hit = firstHit(bytes, needles, from, stop);
  while (hit >= 0) {
    let lineStart = hit;
    while (lineStart > from && !isLineEnd(bytes[lineStart - 1]!)) lineStart -= 1;
    const lineEnd = nextLineEnd(bytes, hit, stop);
    onLine(bytes.subarray(lineStart, lineEnd));
    from = lineEnd + 1;
    hit = firstHit(bytes, needles, from, stop);
  }
}

/** Where the first of the needles stands in `bytes[from, stop)`, or -1. */
function firstHit(bytes: Buffer, needles: readonly Buffer[], from: number, stop: number): number {
  let first = -1;
  for (let i = 0; i < needles.length; i += 1) {
    const hit = bytes.indexOf(needles[i]!, from);
    if (hit >= 0 && hit < stop && (first < 0 || hit < first)) first = hit;
  }
  return first;
}

/** The first LF or CR in `bytes[from, stop)`, or -1. */
function nextLineEnd(bytes: Buffer, from: number, stop: number): number {
  const found = bytes.indexOf(LF, from);
  const lf = found < 0 || found >= stop ? stop : found;
  const cr = bytes.subarray(from, lf).indexOf(CR);
  if (cr >= 0) return from + cr;
  return lf < stop ? lf : -1;
}

/** The last LF or CR at or after `from`, or less than `from`. Most chunks end with one. */
function lastLineEnd(bytes: Buffer, from: number): number {
  if (bytes.length > 0 && isLineEnd(bytes[bytes.length - 1]!)) return bytes.length - 1;
  const tail = bytes.subarray(from);
  return from + Math.max(tail.lastIndexOf(LF), tail.lastIndexOf(CR));
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}

function holdsAny(line: Buffer, needles: readonly Buffer[]): boolean {
  return needles.some((needle) => line.includes(needle));
}
