/**
 * A response body that joins what one turn of the event loop brings. A server
 * that sends two hundred small events at once gives one chunk, not two hundred;
 * an event that comes alone is not held back.
 */
import { Bell, Source } from '../../engine/index.ts';
import type { Gathering } from '../../engine/index.ts';

/** With this much unread the socket is paused, so that no piece is larger than this and one read's rest. */
const MAX_PIECE_BYTES = 32 * 1024;
/** What comes with the head is one piece if it came in one read, of 64 KiB at most: a short answer is all there then. */
const MAX_FIRST_PIECE_BYTES = 64 * 1024;
/** Nobody waits for what is read ahead of a stalled reader, so less of it is held. */
const MAX_AHEAD_BYTES = 4 * 1024;

export interface FlowControl {
  pause(): void;
  resume(): void;
  cancel(reason: unknown): void;
}

export class CoalescingBody extends Source<Buffer> {
  #flow: FlowControl;
  #turn: Gathering;
  #pieces: Buffer[] = [];
  #unreadBytes = 0;
  #paused = false;
  #ended = false;
  #error: Error | undefined;
  readonly #bell = new Bell();
  #flushing = false;
  /** What comes with the head cannot have been asked for yet. */
  #isAsked = false;

  constructor(flow: FlowControl, turn: Gathering) {
    super();
    this.#flow = flow;
    this.#turn = turn;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#unreadBytes += piece.length;
    const isAhead = this.#isAsked && !this.#bell.isWaitedFor;
    const most = isAhead
      ? MAX_AHEAD_BYTES
      : this.#isAsked
        ? MAX_PIECE_BYTES
        : MAX_FIRST_PIECE_BYTES;
    if (this.#unreadBytes >= most && !this.#paused) {
      this.#paused = true;
      // A copy: each piece would keep the whole read alive that it was cut from.
      if (isAhead) this.#pieces = [Buffer.concat(this.#pieces)];
      this.#flow.pause();
    }
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#error = error;
    this.#wake();
  }

  /** The reads of one turn call `push` many times; the reader is woken once, behind all of them. */
  #wake(): void {
    if (!this.#bell.isWaitedFor || this.#flushing) return;
    this.#flushing = true;
    this.#turn.later(this.#flush);
  }

  #flush = (): void => {
    this.#flushing = false;
    this.#bell.ring();
  };

  #take(): Buffer | undefined {
    if (this.#pieces.length === 0) return undefined;
    const piece = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#unreadBytes = 0;
    if (this.#paused) {
      this.#paused = false;
      if (!this.#ended && this.#error === undefined) this.#flow.resume();
    }
    return piece;
  }

  poll(): Buffer | undefined | null {
    this.#isAsked = true;
    const piece = this.#take();
    if (piece !== undefined) return piece;
    if (this.#error !== undefined) throw this.#error;
    return this.#ended ? undefined : null;
  }

  override get isSpent(): boolean {
    return this.#ended && this.#pieces.length === 0;
  }

  wait(): Promise<void> {
    const isThere = this.#pieces.length > 0 || this.#ended || this.#error !== undefined;
    return isThere ? Promise.resolve() : this.#bell.wait();
  }

  cancel(reason: unknown): void {
    this.#pieces = [];
    this.#unreadBytes = 0;
    if (!this.#ended && this.#error === undefined) this.#flow.cancel(reason);
  }
}
