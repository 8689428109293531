/**
 * The response half of a run: sends an answer through the segments after the answering node into
 * the sink, a live answer as a web stream and a whole one in one piece.
 */
import { abandon, streamOf } from './answer.ts';
import type { LiveAnswer, WholeAnswer } from './answer.ts';
import { toSvcError } from './error.ts';
import type { SvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { FusedSegment, Segment } from './graph/segment.ts';
import { framesIn, pipeInto, toGuarded, toOwnStream } from './pipe.ts';
import type { Item } from './pipe.ts';
import type { RunScope } from './run-scope.ts';
import { SegmentRun } from './segment-run.ts';

/**
 * Where an answer goes. The engine makes a WritableStream of `write` and `end`: a pending promise
 * holds the source back until it settles.
 */
export interface Sink<F extends Frame> {
  /** Takes a complete answer. */
  whole(frames: readonly F[]): void | Promise<void>;
  /** Takes one frame of a live answer. A promise must reject as soon as the run's signal aborts. */
  write(frame: F): void | Promise<void>;
  /** Called when the live answer is complete. Resolves when the last of it has been passed on. */
  end(): void | Promise<void>;
  /** Reports to the client that the run failed, in whatever way is still possible. */
  fail(error: SvcError): void | Promise<void>;
  /** Returns a stream for a live answer to pass on its way into the sink; called once per run. */
  before?(): ReadableWritablePair<F, F> | undefined;
}

/**
 * Pipes a live answer into the sink. Rejects with the failure, or as soon as the run is cancelled.
 */
export async function sendLive<F extends Frame>(
  answer: LiveAnswer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  let stream = answer;
  let handlers: FusedSegment<F>[] = [];
  const pipeOn = ({ writable, readable }: ReadableWritablePair<F, Item<F>>): void => {
    // A failure surfaces again at the sink.
    pipeInto(stream, handlers, writable, scope).catch(() => undefined);
    stream = readable;
    handlers = [];
  };
  try {
    for (const segment of segments) {
      if (segment.form === 'fused') handlers.push(segment);
      else pipeOn(toOwnStream(segment, scope));
    }
    const before = sink.before?.();
    if (before !== undefined) pipeOn(toGuarded(before, scope));
  } catch (thrown) {
    abandon(stream, thrown);
    throw thrown;
  }
  await scope.windDown(pipeInto(stream, handlers, toWritable(sink, scope), scope));
}

/**
 * Wraps the sink in a stream that errors itself when the run is cancelled: that stops the source
 * within a millisecond.
 */
function toWritable<F extends Frame>(sink: Sink<F>, scope: RunScope<F>): WritableStream<Item<F>> {
  const fault = (thrown: unknown): never => {
    scope.sinkFault = thrown;
    throw thrown;
  };
  return new WritableStream<Item<F>>({
    start: (controller) => void scope.onCancel(() => controller.error(scope.cancelled())),
    async write(item) {
      for (const frame of framesIn(item)) {
        scope.recordSent(frame);
        try {
          const written = sink.write(frame);
          if (written !== undefined) await written;
        } catch (thrown) {
          fault(thrown);
        }
      }
    },
    async close() {
      scope.mustBeComplete();
      try {
        await sink.end();
      } catch (thrown) {
        fault(thrown);
      }
    },
  });
}

/**
 * Passes a whole answer to the sink. Rejects with the failure, or as soon as the run is cancelled.
 */
export async function sendWhole<F extends Frame>(
  answer: WholeAnswer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  let frames = answer;
  for (const segment of segments) {
    if (segment.form === 'fused') frames = await throughHandlers(frames, segment, scope);
    else {
      const own = streamOf(frames).pipeThrough(toOwnStream(segment, scope));
      frames = await collect(own, scope);
    }
  }
  for (const frame of frames) scope.record(frame);
  scope.mustBeComplete();
  scope.hasSent = true;
  try {
    const result = sink.whole(frames);
    if (result !== undefined) await scope.race(result);
  } catch (thrown) {
    scope.sinkFault = thrown;
    throw thrown;
  }
  const cancelled = scope.cancelled();
  if (cancelled !== undefined) throw cancelled;
}

async function throughHandlers<F extends Frame>(
  frames: readonly F[],
  segment: FusedSegment<F>,
  scope: RunScope<F>,
  from = 0,
): Promise<readonly F[]> {
  const handlers = new SegmentRun(segment, scope, from);
  const passed = await handlers.pass(frames);
  const { answer, place = 0, node } = handlers.rest ?? {};
  if (answer === undefined) return passed;
  const more = await collect(answer, scope).catch((thrown: unknown) => {
    throw toSvcError(thrown, node);
  });
  return [...passed, ...(await throughHandlers(more, segment, scope, place))];
}

/** Collects all frames of a stream, which is cancelled with the run. */
async function collect<F extends Frame>(
  stream: ReadableStream<F>,
  scope: RunScope<F>,
): Promise<F[]> {
  const frames: F[] = [];
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await scope.race(reader.read());
      if (done) return frames;
      frames.push(value);
    }
  } catch (thrown) {
    reader.cancel(thrown).catch(() => undefined);
    throw thrown;
  }
}
