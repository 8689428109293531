/**
 * An answer: one request frame in, many response frames out. A live answer has
 * backpressure: its frames are there when somebody takes them. A whole answer is a short
 * list of frames that are already in memory, and reaches the sink in one piece.
 */
import type { Frame } from './frame.ts';
import { Source, isSource } from './source.ts';

export type LiveAnswer<F extends Frame> = ReadableStream<F> | Source<F>;
export type WholeAnswer<F extends Frame> = readonly F[];
export type Answer<F extends Frame> = LiveAnswer<F> | WholeAnswer<F>;

/** True if a handler returned an answer rather than a frame. */
export function isAnswer<F extends Frame>(value: F | Answer<F>): value is Answer<F> {
  return Array.isArray(value) || isSource<F>(value) || value instanceof ReadableStream;
}

/** True if the answer is a list of frames that are already there. */
export function isWhole<F extends Frame>(answer: Answer<F>): answer is WholeAnswer<F> {
  return Array.isArray(answer);
}

/** The same answer, to be pulled. */
export function toSource<F extends Frame>(answer: Answer<F>): Source<F> {
  if (isWhole(answer)) return Source.of(answer);
  return isSource<F>(answer) ? Source.from(answer) : Source.fromStream(answer);
}

/** Nobody will take the rest of `answer`. What it makes of that concerns nobody any more. */
export function abandon<F extends Frame>(answer: LiveAnswer<F>, reason: unknown): void {
  try {
    toSource(answer).cancel(reason);
  } catch {
    // Such as a stream that somebody else reads.
  }
}
