/**
 * Any stage as a real `{writable, readable}` pair: what the engine fuses can
 * also stand alone in a pipe, and a test proves that both say the same.
 */
import { isAnswer, toStream } from './answer.ts';
import type { Answer } from './answer.ts';
import type { RunInfo } from './context.ts';
import { toSvcError } from './error.ts';
import type { Frame } from './frame.ts';
import { stepOf } from './graph/segment.ts';
import { NodeRun } from './node-run.ts';
import { isTransform } from './stage.ts';
import type { Stage } from './stage.ts';

/** A frame, or an answer that takes the place of the frame that asked for it. */
type Passing<F extends Frame> = { readonly frame: F } | { readonly answer: Answer<F> };

/**
 * Opens `stage` for the run `info` and gives its stream. A frame that the stage
 * answers is replaced by the answer's frames, pulled one by one, so that a
 * reader that stops also stops the answer. `settled` stays with the caller.
 */
export function toTransform<F extends Frame>(
  stage: Stage<F>,
  info: RunInfo,
): ReadableWritablePair<F, F> {
  const node = { name: stage.name, stage, index: 0 };
  const nodeRun = new NodeRun(node, info);
  const { behaviour } = stage;
  if (isTransform(behaviour)) return behaviour.transform(nodeRun);
  nodeRun.state = behaviour.open?.(nodeRun);

  const handled = new TransformStream<F, Passing<F>>({
    async transform(frame, controller) {
      const step = stepOf(node, frame.kind);
      let result: F | Answer<F> = frame;
      try {
        result = (await step?.handle?.(frame, nodeRun)) ?? frame;
      } catch (thrown) {
        throw toSvcError(thrown, stage.name);
      }
      if (isAnswer<F>(result)) {
        controller.enqueue({ answer: result });
        return;
      }
      try {
        step?.watch?.(result, nodeRun);
      } catch (thrown) {
        nodeRun.note('watch_error', thrown instanceof Error ? thrown.message : 'unknown');
      }
      controller.enqueue({ frame: result });
    },
  });
  return { writable: handled.writable, readable: unfold(handled.readable) };
}

/** Frames as they come, and in place of an answer all of its frames. */
function unfold<F extends Frame>(source: ReadableStream<Passing<F>>): ReadableStream<F> {
  const outer = source.getReader();
  let inner: ReadableStreamDefaultReader<F> | undefined;
  return new ReadableStream<F>(
    {
      async pull(controller) {
        for (;;) {
          if (inner !== undefined) {
            const next = await inner.read();
            if (!next.done) return controller.enqueue(next.value);
            inner = undefined;
          }
          const passing = await outer.read();
          if (passing.done) return controller.close();
          if ('frame' in passing.value) return controller.enqueue(passing.value.frame);
          const { answer } = passing.value;
          inner = toStream(answer).getReader();
        }
      },
      async cancel(reason) {
        await inner?.cancel(reason);
        await outer.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
