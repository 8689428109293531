/**
 * An answer: one request frame in, many response frames out. A live answer is a web stream, whose
 * frames are made when they are pulled. A whole answer is a short list of frames that are already
 * in memory, and reaches the sink in one piece.
 */
import type { Frame } from './frame.ts';

export type LiveAnswer<F extends Frame> = ReadableStream<F>;
export type WholeAnswer<F extends Frame> = readonly F[];
export type Answer<F extends Frame> = LiveAnswer<F> | WholeAnswer<F>;

/** Returns true if a handler returned an answer rather than a frame. */
export function isAnswer<F extends Frame>(value: F | Answer<F>): value is Answer<F> {
  return Array.isArray(value) || value instanceof ReadableStream;
}

/** Returns true if all frames of the answer are already in memory. */
export function isWhole<F extends Frame>(answer: Answer<F>): answer is WholeAnswer<F> {
  return Array.isArray(answer);
}

/** Returns `values` as a web stream that emits one per pull. */
export function streamOf<T>(values: readonly T[]): ReadableStream<T> {
  let next = 0;
  return new ReadableStream<T>(
    {
      pull(controller) {
        if (next === values.length) return controller.close();
        controller.enqueue(values[next]!);
        next += 1;
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Cancels `answer`, whose frames will not be read. A stream locked by another reader is left to
 * that reader.
 */
export function abandon<F extends Frame>(answer: LiveAnswer<F>, reason: unknown): void {
  answer.cancel(reason).catch(() => undefined);
}
