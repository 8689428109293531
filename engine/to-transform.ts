/**
 * Any stage as a real `{writable, readable}` pair for use in a pipe. A test proves that it gives
 * the same frames as the fused stage.
 */
import { streamOf } from './answer.ts';
import { toSvcError } from './error.ts';
import type { RunInfo } from './context.ts';
import type { Frame, FrameKinds } from './frame.ts';
import { toFused, toPlanNode } from './graph/segment.ts';
import { NodeRun } from './node-run.ts';
import { framesIn, toHandlerStream } from './pipe.ts';
import type { Item } from './pipe.ts';
import type { StepScope } from './segment-run.ts';
import { isTransform } from './stage.ts';
import type { Stage } from './stage.ts';

/**
 * Opens `stage` for the run `info` and returns its stream. `kinds` is the vocabulary of the frames.
 * An answer replaces the request frame and is pulled frame by frame, so that a reader that stops
 * also stops the answer. The caller calls `settled`.
 */
export function toTransform<F extends Frame>(
  stage: Stage<F>,
  info: RunInfo,
  kinds: FrameKinds<F>,
): ReadableWritablePair<F, F> {
  const nodeRun = new NodeRun({ name: stage.name, needsEvents: false }, info);
  const { behaviour } = stage;
  try {
    if (isTransform(behaviour)) return behaviour.transform(nodeRun);
    nodeRun.state = behaviour.open?.(nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, stage.name);
  }
  const node = toPlanNode({ name: stage.name, stage }, 0, false, kinds);
  const scope: StepScope<F> = {
    kinds,
    nodeRuns: [nodeRun],
    now: () => info.clock.monotonicMs(),
    raceAnswer: (handled) => handled,
  };
  /** Read once the handlers' own stream is over. */
  const more: ReadableStream<F>[] = [];
  const segment = toFused([node], [...kinds.request, ...kinds.response]);
  const stream = toHandlerStream(segment, scope, 0, (rest, frames) => {
    more.push(streamOf(frames));
    if (rest.answer !== undefined) more.push(rest.answer);
  });
  let reader: ReadableStreamDefaultReader<Item<F>> = stream.readable.getReader();
  let waiting: readonly F[] = [];
  const readable = new ReadableStream<F>(
    {
      async pull(controller) {
        while (waiting.length === 0) {
          const { done, value } = await reader.read();
          const next = done ? more.shift() : undefined;
          if (!done) waiting = framesIn(value);
          else if (next === undefined) return controller.close();
          else reader = next.getReader();
        }
        const [first, ...others] = waiting;
        waiting = others;
        controller.enqueue(first!);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { writable: stream.writable, readable };
}
