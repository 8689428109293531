/**
 * Any stage as a real `{writable, readable}` pair: what the engine fuses can
 * also stand alone in a pipe, and a test proves that both give the same frames.
 */
import { toSvcError } from './error.ts';
import { FusedSource } from './fused.ts';
import type { StepScope } from './fused.ts';
import type { RunInfo } from './context.ts';
import type { Frame, FrameKinds } from './frame.ts';
import { toFused } from './graph/segment.ts';
import type { FusedSegment } from './graph/segment.ts';
import { NodeRun } from './node-run.ts';
import { Source } from './source.ts';
import { isTransform } from './stage.ts';
import type { Stage } from './stage.ts';

/**
 * Opens `stage` for the run `info` and gives its stream. `kinds` is the vocabulary of the frames.
 * An answer takes the place of the frame that asked for it and is pulled frame by frame, so that
 * a reader that stops also stops the answer. `settled` stays with the caller.
 */
export function toTransform<F extends Frame>(
  stage: Stage<F>,
  info: RunInfo,
  kinds: FrameKinds<F>,
): ReadableWritablePair<F, F> {
  const node = { name: stage.name, stage, index: 0, needsEvents: false };
  const nodeRun = new NodeRun(node, info);
  const { behaviour } = stage;
  try {
    if (isTransform(behaviour)) return behaviour.transform(nodeRun);
    nodeRun.state = behaviour.open?.(nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, stage.name);
  }
  const segment = toFused([node], [...kinds.request, ...kinds.response]);
  return handlersAsStream(segment, {
    kinds,
    nodeRuns: [nodeRun],
    now: () => info.clock.monotonicMs(),
    raceAnswer: (promise) => promise,
  });
}

/** A segment of handlers as a pair of web streams that hold no frame but the one in hand. */
export function handlersAsStream<F extends Frame>(
  segment: FusedSegment<F>,
  scope: StepScope<F>,
): ReadableWritablePair<F, F> {
  const { readable, writable } = new TransformStream<F, F>();
  return {
    writable,
    readable: new FusedSource(Source.fromStream(readable), segment, scope).toStream(),
  };
}
