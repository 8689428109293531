/**
 * Cuts a stream of server-sent events into pieces without losing a byte: each piece ends
 * with the blank line of its event, and the pieces concatenated are the input, garbage and
 * unfinished tail included. Where the cuts fall depends on the bytes alone, never on how
 * they were split on the way here.
 */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import type { ChunkEvent } from '../model/frame.ts';

export interface SseSplitter {
  /** Takes the next bytes and returns the pieces that they complete. */
  push(bytes: Buffer): ChunkEvent[];
  /** What is left at the end of the stream, read as if its blank line had come; undefined if nothing is. */
  rest(): ChunkEvent | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * A splitter for one stream. `maxEventBytes` (1 MiB unless told) bounds what it holds: an
 * event that outgrows it comes out in pieces of that size whose `data` is undefined.
 */
export function createSplitter({
  maxEventBytes = 1024 * 1024,
}: { readonly maxEventBytes?: number } = {}): SseSplitter {
  const cutter = new Cutter(maxEventBytes);
  const read = createReader();
  return {
    push: (bytes) => cutter.push(bytes).map((piece) => read(piece)),
    rest() {
      const piece = cutter.rest();
      return piece === undefined ? undefined : read(piece);
    },
  };
}

interface Piece {
  readonly bytes: Buffer;
  /** True for a part of an event that outgrew the limit. */
  readonly isPart: boolean;
}

/** Reads what is inside a piece. A piece holds one event at most, so the parser is clean after each. */
function createReader(): (piece: Piece) => ChunkEvent {
  const found: EventSourceMessage[] = [];
  let isFirst = true;
  const parser = createParser({ onEvent: (message) => void found.push(message) });
  return ({ bytes, isPart }) => {
    if (!isPart) {
      const text = bytes.toString('utf8');
      const body = isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
      // A tail lacks its line end, its blank line or both, and the parser holds a final CR back.
      parser.feed(body.endsWith('\n\n') || body.endsWith('\n\r\n') ? body : `${body}\n\n`);
    }
    isFirst = false;
    const message = found.pop();
    return Object.freeze({ event: message?.event, data: message?.data, bytes });
  };
}

/**
 * Finds the blank lines. A CR on an otherwise empty line may be the first half of a CRLF,
 * so the cut waits for the next byte; only where the line before ended in a bare CR is the
 * blank line taken as complete at once, so that a stream of bare CRs is not held back.
 */
class Cutter {
  readonly #maxEventBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isLineEmpty = true;
  #isCrStream = false;
  #awaitsLf: 'no' | 'line' | 'blank' = 'no';
  #isPart = false;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  push(bytes: Buffer): Piece[] {
    const pieces: Piece[] = [];
    let start = 0;
    const cut = (at: number): void => {
      if (this.#heldBytes + at - start > 0) pieces.push(this.#toPiece(bytes.subarray(start, at)));
      start = at;
    };
    for (let i = 0; i < bytes.length;) {
      if (this.#heldBytes + i - start >= this.#maxEventBytes) {
        this.#isPart = true;
        cut(i);
      }
      const end = this.#step(bytes[i]!);
      if (end !== 'before') i += 1;
      if (end !== 'none') {
        cut(i);
        this.#reset();
      } else if (!this.#isLineEmpty) {
        i = skipLine(bytes, i, start + this.#maxEventBytes - this.#heldBytes);
      }
    }
    if (start < bytes.length) {
      this.#held.push(bytes.subarray(start));
      this.#heldBytes += bytes.length - start;
    }
    return pieces;
  }

  rest(): Piece | undefined {
    if (this.#heldBytes === 0) return undefined;
    const piece = this.#toPiece(Buffer.alloc(0));
    this.#reset();
    return piece;
  }

  /** Reads one byte and says where the event ends: after it, before it, or not here. */
  #step(byte: number): 'after' | 'before' | 'none' {
    if (this.#awaitsLf !== 'no') {
      const isBlank = this.#awaitsLf === 'blank';
      this.#awaitsLf = 'no';
      if (byte === LF) return isBlank ? 'after' : 'none';
      if (isBlank) return 'before';
      this.#isCrStream = true;
    }
    if (byte === LF) {
      if (this.#isLineEmpty) return 'after';
      this.#isLineEmpty = true;
      this.#isCrStream = false;
    } else if (byte === CR) {
      if (this.#isLineEmpty && this.#isCrStream) return 'after';
      this.#awaitsLf = this.#isLineEmpty ? 'blank' : 'line';
      this.#isLineEmpty = true;
    } else {
      this.#isLineEmpty = false;
    }
    return 'none';
  }

  #toPiece(tail: Buffer): Piece {
    const bytes = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
    this.#held = [];
    this.#heldBytes = 0;
    return { bytes, isPart: this.#isPart };
  }

  #reset(): void {
    this.#isLineEmpty = true;
    this.#isCrStream = false;
    this.#awaitsLf = 'no';
    this.#isPart = false;
  }
}

/** The next line end at or after `from`, or where to stop: nothing in between changes the state. */
function skipLine(bytes: Buffer, from: number, stop: number): number {
  const limit = Math.min(bytes.length, stop);
  let i = from;
  while (i < limit && bytes[i] !== LF && bytes[i] !== CR) i += 1;
  return i;
}
