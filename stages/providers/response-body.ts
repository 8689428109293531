/**
 * The body of a response: a web stream whose pieces combine what arrives in one turn of the event
 * loop. A server that sends two hundred small events at once produces one chunk, not two hundred;
 * an event that arrives alone is not held back. What has arrived can be inspected before any of it
 * is taken.
 */
import type { WorkQueue } from '../../engine/index.ts';

/**
 * With this much unread the socket is paused, so that no piece is larger than this plus the rest of
 * one read.
 */
const MAX_PIECE_BYTES = 32 * 1024;
/**
 * Data that arrives with the head is one piece if it came in one read, of at most 64 KiB: a short
 * answer is then complete.
 */
const MAX_FIRST_PIECE_BYTES = 64 * 1024;
/** Data read ahead of a stalled reader is not needed yet, so less of it is held. */
const MAX_AHEAD_BYTES = 4 * 1024;

/** Where the pieces come from. */
export interface FlowControl {
  pause(): void;
  resume(): void;
  cancel(reason: unknown): void;
  /**
   * Called if more is needed than has arrived; absent if the source sends data without being asked.
   */
  ask?(): void;
}

/** The items of a stream: its own at both ends, and one for each piece of the body. */
export interface StreamForm<T> {
  readonly before: readonly T[];
  readonly each: (piece: Buffer) => T;
  readonly after: readonly T[];
}

/** The pieces unchanged. */
const BYTES: StreamForm<Buffer> = { before: [], each: (piece) => piece, after: [] };

/** What has arrived of a body and was not taken. */
export interface Arrived {
  readonly pieces: readonly Buffer[];
  /** True if nothing follows. */
  readonly isWhole: boolean;
  /** The error it broke with. */
  readonly error: Error | undefined;
}

export class ResponseBody {
  readonly #flow: FlowControl;
  readonly #turn: WorkQueue;
  #pieces: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #mostFirstBytes = MAX_FIRST_PIECE_BYTES;
  #isWhole = false;
  #error: Error | undefined;
  /** Data that comes with the head cannot have been requested yet. */
  #isAsked = false;
  #isWaking = false;
  /** Passes the next item to the waiting reader of the stream. */
  #give: (() => void) | undefined;
  #more: Promise<void> | undefined;
  #onMore: () => void = () => undefined;

  constructor(flow: FlowControl, turn: WorkQueue) {
    this.#flow = flow;
    this.#turn = turn;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#unreadBytes += piece.length;
    const isAhead = this.#isAsked && this.#give === undefined;
    const limit = isAhead ? MAX_AHEAD_BYTES : MAX_PIECE_BYTES;
    const max = this.#isAsked ? limit : this.#mostFirstBytes;
    if (this.#unreadBytes >= max && !this.#isPaused) {
      this.#isPaused = true;
      // A copy: each piece would otherwise keep alive the whole read it was cut from.
      if (isAhead) this.#pieces = [Buffer.concat(this.#pieces)];
      this.#flow.pause();
    }
    this.#wake();
  }

  end(): void {
    this.#isWhole = this.#error === undefined;
    this.#wake();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#wake();
  }

  /** The reads of one turn call `push` many times; the reader is woken once, after all of them. */
  #wake(): void {
    if (this.#isWaking || (this.#give === undefined && this.#more === undefined)) return;
    this.#isWaking = true;
    this.#turn.later(this.#onTurn);
  }

  #onTurn = (): void => {
    this.#isWaking = false;
    this.#more = undefined;
    this.#onMore();
    this.#give?.();
  };

  #take(): Buffer | undefined {
    if (this.#pieces.length === 0) return undefined;
    const piece = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#unreadBytes = 0;
    this.#resume();
    return piece;
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isWhole && this.#error === undefined) this.#flow.resume();
  }

  /** Returns what has arrived, without taking it. */
  arrived(): Arrived {
    return { pieces: this.#pieces, isWhole: this.#isWhole, error: this.#error };
  }

  /** Resolves when more has arrived, or nothing more will. */
  more(): Promise<void> {
    if (this.#isWhole || this.#error !== undefined) return Promise.resolve();
    this.#more ??= new Promise((resolve) => (this.#onMore = resolve));
    this.#flow.ask?.();
    return this.#more;
  }

  /**
   * Returns what has arrived once that is the whole body, at least `maxBytes`, broken off, or
   * `late`; nothing is taken.
   */
  async beginning(
    maxBytes: number,
    late?: Promise<void>,
  ): Promise<{ readonly bytes: Buffer; readonly error?: Error }> {
    this.#mostFirstBytes = Math.max(this.#mostFirstBytes, maxBytes);
    if (this.#unreadBytes < maxBytes) this.#resume();
    let isLate = false;
    void late?.then(() => (isLate = true));
    const isOpen = (): boolean => !this.#isWhole && this.#error === undefined && !isLate;
    while (isOpen() && this.#unreadBytes < maxBytes)
      await (late === undefined ? this.more() : Promise.race([this.more(), late]));
    const bytes = Buffer.concat(this.#pieces);
    return this.#error === undefined ? { bytes } : { bytes, error: this.#error };
  }

  /** Returns the remaining pieces as a stream, without holding any of them. Called once. */
  bytes(): ReadableStream<Buffer> {
    return this.stream(BYTES);
  }

  /** The same in another form. A body that breaks off first yields what had arrived. */
  stream<T>({ before, each, after }: StreamForm<T>): ReadableStream<T> {
    const first = [...before];
    return new ReadableStream<T>(
      {
        pull: (controller) => {
          const item = first.shift();
          if (item !== undefined) return controller.enqueue(item);
          this.#isAsked = true;
          const give = (): void => {
            const piece = this.#take();
            if (piece === undefined && this.#error === undefined && !this.#isWhole) return;
            this.#give = undefined;
            if (piece !== undefined) return controller.enqueue(each(piece));
            if (this.#error !== undefined) return controller.error(this.#error);
            for (const last of after) controller.enqueue(last);
            controller.close();
          };
          this.#give = give;
          give();
          if (this.#give !== undefined) this.#flow.ask?.();
        },
        cancel: (reason) => {
          this.#give = undefined;
          this.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /**
   * Discards what has not been read and closes the connection; a stream of the body errors. Does
   * nothing after the end.
   */
  cancel(reason: unknown): void {
    this.#pieces = [];
    this.#unreadBytes = 0;
    if (this.#isWhole || this.#error !== undefined) return;
    this.#flow.cancel(reason);
    this.fail(reason instanceof Error ? reason : new Error('it was cancelled'));
  }
}

/** Makes a body of the content of `stream`. */
export function bodyOf(stream: ReadableStream<Buffer>): ResponseBody {
  const reader = stream.getReader();
  let isReading = false;
  const body = new ResponseBody(
    {
      pause: () => undefined,
      resume: () => undefined,
      cancel: (reason) => void reader.cancel(reason).catch(() => undefined),
      ask() {
        if (isReading) return;
        isReading = true;
        reader.read().then(
          ({ done, value }) => {
            isReading = false;
            if (done) body.end();
            else body.push(value);
          },
          (thrown: unknown) =>
            body.fail(thrown instanceof Error ? thrown : new Error(String(thrown))),
        );
      },
    },
    { later: (work) => work() },
  );
  return body;
}
