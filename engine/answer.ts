/**
 * An answer: one request frame in, many response frames out. A live answer has
 * backpressure: its frames are there when somebody takes them. A whole answer is a short
 * list of frames that are already in memory, so that nothing has to be made for them.
 */
import type { Frame } from './frame.ts';

const BRAND = Symbol.for('svc.pulled-answer');

/**
 * A live answer whose frames are pulled, by one call at a time. `toStream` makes the web stream
 * of it that it stands for; without a stage that brings its own stream none is made, for that
 * would cost a run more than all its stages. A test holds the two to the same frames, errors,
 * ends and backpressure.
 */
export abstract class PulledAnswer<F extends Frame> {
  readonly [BRAND] = true;
  /** The next frame; `null` where one must wait for it with `read`, undefined behind the last. Throws where the answer broke. */
  abstract poll(): F | null | undefined;
  /** The next frame, where `poll` has just given `null`; undefined behind the last. Rejects where the answer broke. */
  abstract read(): Promise<F | undefined>;
  /** Nobody will take the rest. Called once at most, and not after an end or a break. */
  abstract cancel(reason: unknown): void;
}

/** True for one of this copy of the engine and of another. */
function isPulled<F extends Frame>(value: F | Answer<F>): value is PulledAnswer<F> {
  return typeof value === 'object' && BRAND in value;
}

export type LiveAnswer<F extends Frame> = ReadableStream<F> | PulledAnswer<F>;
export type WholeAnswer<F extends Frame> = readonly F[];
export type Answer<F extends Frame> = LiveAnswer<F> | WholeAnswer<F>;

/** True if a handler returned an answer rather than a frame. */
export function isAnswer<F extends Frame>(value: F | Answer<F>): value is Answer<F> {
  return Array.isArray(value) || isPulled<F>(value) || value instanceof ReadableStream;
}

/** True if the answer is a list of frames that are already there. */
export function isWhole<F extends Frame>(answer: Answer<F>): answer is WholeAnswer<F> {
  return Array.isArray(answer);
}

/** The same frames as a live answer, handed out one by one as they are taken. */
export function toLive<F extends Frame>(answer: WholeAnswer<F>): LiveAnswer<F> {
  return new ListedAnswer(answer);
}

class ListedAnswer<F extends Frame> extends PulledAnswer<F> {
  readonly #frames: WholeAnswer<F>;
  #next = 0;

  constructor(frames: WholeAnswer<F>) {
    super();
    this.#frames = frames;
  }

  poll(): F | undefined {
    const frame = this.#frames[this.#next];
    this.#next += 1;
    return frame;
  }

  read(): Promise<F | undefined> {
    return Promise.resolve(this.poll());
  }

  cancel(): void {
    this.#next = this.#frames.length;
  }
}

/** The same answer, to be pulled. */
export function toPulled<F extends Frame>(answer: LiveAnswer<F>): PulledAnswer<F> {
  return isPulled<F>(answer) ? answer : new ReaderAnswer(answer);
}

class ReaderAnswer<F extends Frame> extends PulledAnswer<F> {
  readonly #reader: ReadableStreamDefaultReader<F>;

  constructor(stream: ReadableStream<F>) {
    super();
    this.#reader = stream.getReader();
  }

  poll(): null {
    return null;
  }

  async read(): Promise<F | undefined> {
    return (await this.#reader.read()).value;
  }

  cancel(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => undefined);
  }
}

/** Tells `answer` that nobody will take the rest. What it makes of that concerns nobody any more. */
export function abandon<F extends Frame>(answer: LiveAnswer<F>, reason: unknown): void {
  try {
    toPulled(answer).cancel(reason);
  } catch {
    // Such as a stream that somebody else reads.
  }
}

/** The same frames as a web stream, which holds none of them. */
export function toStream<F extends Frame>(answer: Answer<F>): ReadableStream<F> {
  if (answer instanceof ReadableStream) return answer;
  const pulled = isWhole(answer) ? new ListedAnswer(answer) : answer;
  return new ReadableStream<F>(
    {
      async pull(controller) {
        const ready = pulled.poll();
        const frame = ready === null ? await pulled.read() : ready;
        if (frame === undefined) controller.close();
        else controller.enqueue(frame);
      },
      cancel: (reason) => pulled.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
