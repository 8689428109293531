/**
 * Finds the few events of a stream that say something about usage, without reading the
 * others. Each search is one native call over a whole chunk, so a burst of events costs
 * next to nothing; what makes it fast is a needle whose first byte is rare in JSON, such as
 * `_tokens"` (with a leading quote the same search is a hundred times slower).
 */

export interface NeedleScanner {
  /** Takes the next bytes, in any split, and hands over every completed event that holds a needle, all its lines together. */
  push(bytes: Buffer, onEvent: (event: Buffer) => void): void;
  /** The unfinished last event, if it holds a needle. */
  rest(): Buffer | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * A scanner for events (ended by a blank line, of LF, CR or both) that hold one of
 * `needles`. An event that is spread over chunks and grows beyond `maxEventBytes` (1 MiB
 * unless told) is passed over.
 */
export function createNeedleScanner(
  needles: readonly Buffer[],
  { maxEventBytes = 1024 * 1024 }: { readonly maxEventBytes?: number } = {},
): NeedleScanner {
  return new Scanner(needles, maxEventBytes);
}

class Scanner implements NeedleScanner {
  readonly #needles: readonly Buffer[];
  readonly #maxEventBytes: number;
  #carried: Buffer[] = [];
  #carriedBytes = 0;
  /** The last bytes of what is carried: a blank line may begin in there. */
  #before = NOTHING;

  constructor(needles: readonly Buffer[], maxEventBytes: number) {
    this.#needles = needles;
    this.#maxEventBytes = maxEventBytes;
  }

  push(bytes: Buffer, onEvent: (event: Buffer) => void): void {
    let start = 0;
    if (this.#carriedBytes > 0) {
      const end = firstBlankEnd(bytes, 0, bytes.length, this.#before);
      if (end < 0) return this.#carry(bytes);
      const event = this.#takeCarried(bytes.subarray(0, end + 1));
      if (event !== undefined) onEvent(event);
      start = end + 1;
    }
    const stop = lastBlankEnd(bytes, start) + 1;
    if (stop > start) scan(bytes, start, stop, this.#needles, onEvent);
    const rest = Math.max(start, stop);
    if (rest < bytes.length) this.#carry(bytes.subarray(rest));
  }

  rest(): Buffer | undefined {
    if (this.#carried.length === 0) return undefined;
    const event = this.#carried.length === 1 ? this.#carried[0]! : Buffer.concat(this.#carried);
    this.#carried = [event];
    return holdsAny(event, this.#needles) ? event : undefined;
  }

  #carry(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#carriedBytes += bytes.length;
    const end = bytes.length < 3 ? Buffer.concat([this.#before, bytes]) : bytes;
    this.#before = end.subarray(-3);
    if (this.#carriedBytes <= this.#maxEventBytes) this.#carried.push(bytes);
    else this.#carried = [];
  }

  /** The carried event with its last bytes, if it is whole and holds a needle; nothing is carried afterwards. */
  #takeCarried(tail: Buffer): Buffer | undefined {
    const isWhole = this.#carriedBytes + tail.length <= this.#maxEventBytes;
    const event = isWhole ? Buffer.concat([...this.#carried, tail]) : undefined;
    this.#carried = [];
    this.#carriedBytes = 0;
    this.#before = NOTHING;
    return event !== undefined && holdsAny(event, this.#needles) ? event : undefined;
  }
}

/** Hands over the events of `bytes[start, stop)` that hold a needle; `stop` is just after a blank line. */
function scan(
  bytes: Buffer,
  start: number,
  stop: number,
  needles: readonly Buffer[],
  onEvent: (event: Buffer) => void,
): void {
  let from = start;
  let hit = firstHit(bytes, needles, from, stop);
  while (hit >= 0) {
    let eventStart = hit;
    while (eventStart > from && !isBlankEnd(bytes, eventStart - 1, NOTHING)) eventStart -= 1;
    const eventEnd = firstBlankEnd(bytes, hit, stop, NOTHING);
    onEvent(bytes.subarray(eventStart, eventEnd));
    from = eventEnd + 1;
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

/** True if the byte at `i` ends a blank line; `before` are the bytes in front of `bytes`. */
function isBlankEnd(bytes: Buffer, i: number, before: Buffer): boolean {
  if (!isLineEnd(bytes[i])) return false;
  const isPair = bytes[i] === LF && byteAt(bytes, i - 1, before) === CR;
  return isLineEnd(byteAt(bytes, isPair ? i - 2 : i - 1, before));
}

function byteAt(bytes: Buffer, i: number, before: Buffer): number | undefined {
  return i >= 0 ? bytes[i] : before[before.length + i];
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** Where the first blank line in `bytes[from, stop)` ends, or -1. */
function firstBlankEnd(bytes: Buffer, from: number, stop: number, before: Buffer): number {
  let i = from;
  while (i < stop) {
    const found = bytes.indexOf(LF, i);
    const lf = found < 0 || found >= stop ? stop : found;
    const cr = bytes.subarray(i, lf).indexOf(CR);
    const end = cr < 0 ? lf : i + cr;
    if (end < stop && isBlankEnd(bytes, end, before)) return end;
    i = end + 1;
  }
  return -1;
}

/** Where the last blank line at or after `from` ends, or less than `from`. Most chunks end with one. */
function lastBlankEnd(bytes: Buffer, from: number): number {
  let lf = bytes.length - 1;
  if (isBlankEnd(bytes, lf, NOTHING)) return lf;
  lf = bytes.lastIndexOf(LF);
  let cr = bytes.lastIndexOf(CR);
  for (;;) {
    const end = Math.max(lf, cr);
    if (end < from || isBlankEnd(bytes, end, NOTHING)) return end;
    // A negative offset would count from the end again.
    if (end === lf) lf = end === 0 ? -1 : bytes.lastIndexOf(LF, end - 1);
    else cr = end === 0 ? -1 : bytes.lastIndexOf(CR, end - 1);
  }
}

function holdsAny(event: Buffer, needles: readonly Buffer[]): boolean {
  return needles.some((needle) => event.includes(needle));
}
