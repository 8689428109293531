/**
 * Reads HTTP/1.1 answers off a connection with as little work as possible, because a load
 * generator that is busy measures itself. It knows lengths and chunks, counts the bytes of
 * the body, and keeps none of them.
 */

/** One answer, when its last byte has been read. */
export interface Answer {
  readonly status: number;
  /** Bytes of the body without its framing. */
  readonly bodyBytes: number;
}

/** What a reader returns. */
export interface AnswerEvents {
  /** The first byte of a body was read. */
  onFirst(): void;
  onEnd(answer: Answer): void;
}

type State = 'head' | 'sized' | 'size-line' | 'chunk' | 'chunk-end' | 'last-line';

const CR = 13;
const LF = 10;
const HEAD_END = Buffer.from('\r\n\r\n');

/** A reader for the answers of one connection, one after another. Throws on what is no HTTP/1.1. */
export class ResponseReader {
  readonly #events: AnswerEvents;
  #state: State = 'head';
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #bodyBytes = 0;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  /** Takes the next bytes of the connection. */
  read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'head') at = this.#readHead(bytes, at);
      else if (this.#state === 'sized' || this.#state === 'chunk') at = this.#readBody(bytes, at);
      else at = this.#readFraming(bytes, at);
    }
  }

  #readHead(bytes: Buffer, from: number): number {
    const before = this.#head.length;
    const all =
      before === 0 ? bytes.subarray(from) : Buffer.concat([this.#head, bytes.subarray(from)]);
    const end = all.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = all;
      return bytes.length;
    }
    this.#head = Buffer.alloc(0);
    this.#start(all.toString('latin1', 0, end).toLowerCase());
    return from + end + HEAD_END.length - before;
  }

  #start(head: string): void {
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytes = 0;
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (head.includes('\r\ntransfer-encoding: chunked')) {
      this.#state = 'size-line';
      this.#left = 0;
    } else if (length !== undefined) {
      this.#state = 'sized';
      this.#left = Number(length);
      if (this.#left === 0) this.#finish();
    } else {
      throw new Error(`an answer without framing: ${JSON.stringify(head.slice(0, 200))}`);
    }
  }

  #readBody(bytes: Buffer, from: number): number {
    const count = Math.min(this.#left, bytes.length - from);
    if (this.#bodyBytes === 0) this.#events.onFirst();
    this.#bodyBytes += count;
    this.#left -= count;
    if (this.#left === 0) {
      if (this.#state === 'sized') this.#finish();
      else this.#state = 'chunk-end';
    }
    return from + count;
  }

  /** Size lines digit by digit, since a read may end anywhere; trailers are not understood. */
  #readFraming(bytes: Buffer, from: number): number {
    const byte = bytes[from]!;
    if (byte === LF) this.#endLine();
    else if (byte !== CR && this.#state === 'size-line')
      this.#left = this.#left * 16 + toDigit(byte);
    else if (byte !== CR) throw new Error(`unexpected byte ${byte} between chunks`);
    return from + 1;
  }

  #endLine(): void {
    if (this.#state === 'chunk-end') this.#state = 'size-line';
    else if (this.#state === 'size-line') this.#state = this.#left === 0 ? 'last-line' : 'chunk';
    else this.#finish();
  }

  #finish(): void {
    this.#state = 'head';
    this.#events.onEnd({ status: this.#status, bodyBytes: this.#bodyBytes });
  }
}

function toDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = (byte | 32) - 87;
  if (letter >= 10 && letter <= 15) return letter;
  throw new Error(`unexpected byte ${byte} in a chunk's size`);
}
