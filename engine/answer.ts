/**
 * An answer: one request frame in, many response frames out. A live answer is a
 * web stream with backpressure; a whole answer is a short list of frames that
 * are already in memory, so that no stream has to be made for them.
 */
import type { Frame } from './frame.ts';

export type LiveAnswer<F extends Frame> = ReadableStream<F>;
export type WholeAnswer<F extends Frame> = readonly F[];
export type Answer<F extends Frame> = LiveAnswer<F> | WholeAnswer<F>;

/** True if a handler returned an answer rather than a frame. */
export function isAnswer<F extends Frame>(value: F | Answer<F>): value is Answer<F> {
  return Array.isArray(value) || value instanceof ReadableStream;
}

/** True if the answer is a list of frames that are already there. */
export function isWhole<F extends Frame>(answer: Answer<F>): answer is WholeAnswer<F> {
  return Array.isArray(answer);
}

/** The same frames as a stream, handed out one by one as they are read. */
export function toLive<F extends Frame>(answer: WholeAnswer<F>): LiveAnswer<F> {
  let next = 0;
  return new ReadableStream<F>(
    {
      pull(controller) {
        const frame = answer[next];
        next += 1;
        if (frame === undefined) controller.close();
        else controller.enqueue(frame);
      },
    },
    { highWaterMark: 0 },
  );
}
