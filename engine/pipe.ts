/**
 * The path of a live answer: a web stream, piped through one TransformStream per segment into a
 * WritableStream. Backpressure, errors and cancellation are those of the streams.
 */
import { abandon, streamOf } from './answer.ts';
import type { LiveAnswer } from './answer.ts';
import { toSvcError } from './error.ts';
import type { SvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { FusedSegment, StreamSegment } from './graph/segment.ts';
import { SegmentRun } from './segment-run.ts';
import type { Rest, StepScope } from './segment-run.ts';
import type { NodeRun } from './node-run.ts';

/**
 * What one stream of a pipe passes to the next: a frame, or all the frames that replaced one. As a
 * single item they cannot be separated: if the source fails, its error clears a stream's queue.
 */
export type Item<F extends Frame> = F | readonly F[];

export function framesIn<F extends Frame>(item: Item<F>): readonly F[] {
  return isList(item) ? item : [item];
}

function isList<F extends Frame>(item: Item<F>): item is readonly F[] {
  return Array.isArray(item);
}

/** The part of a run that streams need. */
export interface PipeScope<F extends Frame> extends StepScope<F> {
  /**
   * Returns the error for a failure of the source itself, named after the answering node.
   */
  toNamedError(thrown: unknown): SvcError;
  /** Sets the node whose name such errors get from here on. */
  setSource(node: string): void;
}

/**
 * Returns the handlers of a segment as a stream, which is finished once `onReplaced` is called with
 * what replaces the rest of the answer and the `frames` that have passed the segment. These are not
 * enqueued here: Node 20 throws if a terminated stream that still has frames queued is cancelled.
 */
export function toHandlerStream<F extends Frame>(
  segment: FusedSegment<F>,
  scope: StepScope<F>,
  from: number,
  onReplaced: (rest: Rest<F>, frames: readonly F[]) => void,
): TransformStream<Item<F>, Item<F>> {
  const handlers = new SegmentRun(segment, scope, from);
  return new TransformStream<Item<F>, Item<F>>({
    transform(item, controller) {
      const put = (frames: readonly F[]): void => {
        if (handlers.rest !== undefined) {
          onReplaced(handlers.rest, frames);
          controller.terminate();
        } else if (frames.length > 0) controller.enqueue(frames);
      };
      const passed = handlers.pass(framesIn(item));
      return passed instanceof Promise ? passed.then(put) : put(passed);
    },
  });
}

/** Frames, and where they enter the segments. */
interface Entry<F extends Frame> {
  readonly answer: LiveAnswer<F>;
  readonly segment: number;
  /** Before the node at this place of that segment. */
  readonly place: number;
  /** The node that produced them, if it is not the answering node. */
  readonly node?: string;
}

/**
 * Pipes `answer` through `segments` into `target`, then whatever a handler put in place of its rest
 * through the segments after that handler. Closes `target` at the end; rejects as the pipe does.
 */
export async function pipeInto<F extends Frame>(
  answer: LiveAnswer<F>,
  segments: readonly FusedSegment<F>[],
  target: WritableStream<Item<F>>,
  scope: PipeScope<F>,
): Promise<void> {
  let entries: readonly Entry<F>[] = [{ answer, segment: 0, place: 0 }];
  try {
    for (let entry = entries[0]; entry !== undefined; entry = entries[0]) {
      const { segment, place, node } = entry;
      if (node !== undefined) scope.setSource(node);
      entries = entries.slice(1);
      let stream: ReadableStream<Item<F>> = entry.answer;
      let endedAt = -1;
      for (let at = segment; at < segments.length; at += 1) {
        const from = at === segment ? place : 0;
        const handlers = toHandlerStream(segments[at]!, scope, from, (rest, frames) => {
          const made: Entry<F>[] = [{ answer: streamOf(frames), segment: at + 1, place: 0 }];
          if (rest.answer !== undefined) made.push({ ...rest, answer: rest.answer, segment: at });
          // From here on, an earlier segment only sees frames that come after the end.
          const dropped = at > endedAt ? entries : made;
          if (at > endedAt) entries = made;
          endedAt = Math.max(at, endedAt);
          for (const { answer: unused } of dropped) abandon(unused, undefined);
        });
        stream = stream.pipeThrough(handlers);
      }
      await stream.pipeTo(target, { preventClose: true });
    }
  } catch (thrown) {
    for (const { answer: unused } of entries) abandon(unused, thrown);
    throw thrown;
  }
  await target.getWriter().close();
}

/**
 * Returns a stage's own stream, wrapped by `toGuarded`. Throws what the stage throws, named after
 * it.
 */
export function toOwnStream<F extends Frame>(
  { node, by }: StreamSegment<F>,
  scope: PipeScope<F>,
): ReadableWritablePair<F, Item<F>> {
  const nodeRun = scope.nodeRuns[node.index]!;
  try {
    return toGuarded(by.transform(nodeRun), scope, nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, nodeRun.node);
  }
}

/**
 * Wraps a foreign stream: frames are timed, an error is named after its node, cancelling stops the
 * source at once even while the stream is busy, and frames the stream has already made are read
 * before an error of the source reaches it.
 */
export function toGuarded<F extends Frame>(
  pair: ReadableWritablePair<F, F>,
  scope: PipeScope<F>,
  nodeRun?: NodeRun,
): ReadableWritablePair<F, Item<F>> {
  const writer = pair.writable.getWriter();
  const reader = pair.readable.getReader();
  let input: WritableStreamDefaultController | undefined;
  let rejectWrite: (reason: unknown) => void = () => undefined;
  /** The reader's pending read. */
  let read: Promise<unknown> | undefined;
  /**
   * Aborts the stream with the error of its source, once none of its output is waiting to be read.
   */
  let abort: (() => Promise<void>) | undefined;
  return {
    writable: new WritableStream<Item<F>>({
      start: (controller) => void (input = controller),
      async write(item) {
        for (const frame of framesIn(item)) {
          nodeRun?.recordEntry(scope.now());
          await new Promise<void>((resolve, reject) => {
            rejectWrite = reject;
            writer.write(frame).then(resolve, reject);
          });
        }
      },
      close: () => writer.close(),
      async abort(reason) {
        // An error from before this node is not this node's fault.
        abort = () => writer.abort(scope.toNamedError(reason));
        const waiting = read;
        if (waiting !== undefined && !(await isReady(waiting))) await abort();
      },
    }),
    readable: new ReadableStream<F>(
      {
        async pull(controller) {
          try {
            const next = reader.read();
            read = next;
            if (abort !== undefined && !(await isReady(next))) await abort();
            const { done, value } = await next;
            if (done) return controller.close();
            nodeRun?.recordExit(scope.now());
            controller.enqueue(value);
          } catch (thrown) {
            throw toSvcError(thrown, nodeRun?.node);
          } finally {
            read = undefined;
          }
        },
        cancel(reason) {
          input?.error(reason);
          rejectWrite(reason);
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}

/** Returns false if the promise has not settled one turn of the event loop later. */
function isReady(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, nextTurn().then(() => false)]);
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
