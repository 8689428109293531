/**
 * Reads HTTP/1.1 responses from a connection with as little work as possible, because a busy load
 * generator measures itself. It parses lengths and chunks, counts the bytes of the body, and keeps
 * none of them.
 */

/** One response, once its last byte has been read. */
export interface WireResponse {
  readonly status: number;
  /** Body bytes without framing. */
  readonly bodyBytes: number;
}

/** Callbacks of a reader. */
export interface WireResponseEvents {
  /** Called at the first byte of a body. */
  onFirst(): void;
  onEnd(answer: WireResponse): void;
}

type State = 'head' | 'sized' | 'size-line' | 'chunk' | 'chunk-end' | 'last-line';

const CR = 13;
const LF = 10;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Reads the responses of one connection, one after another. Throws if they are not HTTP/1.1. */
export class ResponseReader {
  readonly #events: WireResponseEvents;
  #state: State = 'head';
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #bodyBytes = 0;
  /** Remaining bytes of the body, or of the chunk. */
  #left = 0;

  constructor(events: WireResponseEvents) {
    this.#events = events;
  }

  /** Processes the next bytes of the connection. */
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

  /**
   * Parses size lines digit by digit, since a read may end anywhere; trailers are not supported.
   */
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
