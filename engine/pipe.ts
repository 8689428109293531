/**
 * The way of a live answer: a web stream, piped through one TransformStream a segment into a
 * WritableStream. Backpressure, errors and cancellation are those of the streams.
 */
import { abandon, streamOf } from './answer.ts';
import type { LiveAnswer } from './answer.ts';
import { toSvcError } from './error.ts';
import type { SvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { FusedSegment } from './graph/segment.ts';
import { SegmentRun } from './segment-run.ts';
import type { Rest, StepScope } from './segment-run.ts';
import type { NodeRun } from './node-run.ts';
import type { TransformBehaviour } from './stage.ts';

/** What streams need of a run. */
export interface PipeScope<F extends Frame> extends StepScope<F> {
  /** The error for what broke in the source itself: it is named after the node that gave the answer. */
  named(thrown: unknown): SvcError;
  /** From here on that is this node. */
  sourceIs(node: string): void;
}

/** What a handler has put in the place of the rest of an answer. */
export interface Instead<F extends Frame> {
  /** Frames that have passed the segment. */
  readonly frames: readonly F[];
  readonly rest: Rest<F>;
}

/**
 * The handlers of a segment as a stream. It is over once `onInstead` is called. What it is called
 * with is not enqueued here: Node 20 throws where a terminated stream that still holds frames is
 * cancelled.
 */
export function toHandlerStream<F extends Frame>(
  segment: FusedSegment<F>,
  scope: StepScope<F>,
  from: number,
  onInstead: (instead: Instead<F>) => void,
): TransformStream<F, F> {
  const handlers = new SegmentRun(segment, scope, from);
  return new TransformStream<F, F>({
    async transform(frame, controller) {
      const frames = await handlers.pass(frame);
      if (handlers.rest === undefined) {
        for (const each of frames) controller.enqueue(each);
        return;
      }
      onInstead({ frames, rest: handlers.rest });
      controller.terminate();
    },
  });
}

/** Frames, and where they enter the segments. */
interface Entry<F extends Frame> {
  readonly answer: LiveAnswer<F>;
  readonly segment: number;
  /** Before the node at this place of that segment. */
  readonly place: number;
  /** The node that gave them, where that is not the one that gave the answer. */
  readonly node?: string;
}

/**
 * Pipes `answer` through `segments` into `target`, and then what a handler puts in the place of its
 * rest through those that follow that handler. Closes `target` at the end; rejects as the pipe does.
 */
export async function pipeInto<F extends Frame>(
  answer: LiveAnswer<F>,
  segments: readonly FusedSegment<F>[],
  target: WritableStream<F>,
  scope: PipeScope<F>,
): Promise<void> {
  let entries: readonly Entry<F>[] = [{ answer, segment: 0, place: 0 }];
  try {
    for (let entry = entries[0]; entry !== undefined; entry = entries[0]) {
      const { segment, place, node } = entry;
      if (node !== undefined) scope.sourceIs(node);
      entries = entries.slice(1);
      let stream = entry.answer;
      let endedAt = -1;
      for (let at = segment; at < segments.length; at += 1) {
        const from = at === segment ? place : 0;
        const handlers = toHandlerStream(segments[at]!, scope, from, ({ frames, rest }) => {
          const passed = { answer: streamOf(frames), segment: at + 1, place: 0 };
          const made = [passed, ...entriesOf(rest, at)];
          // What an earlier segment does now is about frames that come after the end.
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

function entriesOf<F extends Frame>(
  { answer, place, node }: Rest<F>,
  segment: number,
): readonly Entry<F>[] {
  return answer === undefined ? [] : [{ answer, segment, place, node }];
}

/**
 * A stage's own stream seen from outside: frames are timed, an error is named after the node in
 * which it arose, and to cancel it stops the source at once, though the stream may be busy.
 */
export function toOwnStream<F extends Frame>(
  behaviour: TransformBehaviour<F>,
  nodeRun: NodeRun,
  scope: PipeScope<F>,
): ReadableWritablePair<F, F> {
  let pair: ReadableWritablePair<F, F>;
  try {
    pair = behaviour.transform(nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, nodeRun.node);
  }
  const writer = pair.writable.getWriter();
  const reader = pair.readable.getReader();
  let input: WritableStreamDefaultController | undefined;
  let rejectWrite: (reason: unknown) => void = () => undefined;
  return {
    writable: new WritableStream<F>({
      start: (controller) => void (input = controller),
      write(frame) {
        nodeRun.entered(scope.now());
        return new Promise((resolve, reject) => {
          rejectWrite = reject;
          writer.write(frame).then(resolve, reject);
        });
      },
      close: () => writer.close(),
      // What broke before it got here is no fault of this node.
      abort: (reason) => writer.abort(scope.named(reason)),
    }),
    readable: new ReadableStream<F>(
      {
        async pull(controller) {
          try {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            nodeRun.left(scope.now());
            controller.enqueue(value);
          } catch (thrown) {
            throw toSvcError(thrown, nodeRun.node);
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
