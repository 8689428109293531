/**
 * One run through a plan: the request half is a loop over one frame, the response half a
 * loop that pulls frames through the segments into the sink. How it ended is reported to every
 * stage exactly once.
 */
import { abandon, isWhole, toSource } from './answer.ts';
import type { Answer } from './answer.ts';
import { answerTo } from './answer-to.ts';
import type { RunInfo } from './context.ts';
import { toSvcError } from './error.ts';
import type { SvcError } from './error.ts';
import type { Frame } from './frame.ts';
import { FusedSource } from './fused.ts';
import type { Plan } from './graph/compile.ts';
import type { Segment } from './graph/segment.ts';
import { RunScope } from './run-scope.ts';
import type { Outcome, Settlement } from './settle.ts';
import { Source } from './source.ts';
import { handlersAsStream } from './to-transform.ts';

/** Where an answer goes. */
export interface Sink<F extends Frame> {
  /** Takes an answer that is complete. */
  whole(frames: readonly F[]): void | Promise<void>;
  /**
   * Takes one frame of a live answer. A promise holds the source back until it
   * settles; it must reject as soon as the run's signal aborts. `isLast`: what follows is in memory
   * already, so that nothing need be held back.
   */
  write(frame: F, isLast: boolean): void | Promise<void>;
  /** Nothing more is there for now: what was written may leave at once. Never throws. */
  flush?(): void;
  /** The live answer is complete. Resolves when the last of it has been handed over. */
  end(): void | Promise<void>;
  /** Reports to the client that the run failed, in whatever way is still possible. */
  fail(error: SvcError): void | Promise<void>;
}

/** Sends `first` through the plan and the answer to the sink. Never rejects: the settlement says how it ended. */
export async function run<F extends Frame>(
  plan: Plan<F>,
  first: F,
  info: RunInfo,
  sink: Sink<F>,
): Promise<Settlement<F>> {
  const scope = new RunScope(plan, info);
  let error: SvcError | undefined;
  try {
    scope.open();
    const { answer, segments } = await answerTo(plan, first, scope);
    const sent = send(answer, segments, scope, sink);
    if (sent !== undefined) await sent;
  } catch (thrown) {
    error = toSvcError(scope.cancelled() ?? thrown);
  }
  const outcome = outcomeOf(error, scope);
  if (error !== undefined && outcome !== 'cancelled') await reportFailure(sink, error, scope);
  const settlement = scope.settlement(outcome, error);
  await scope.settle(settlement);
  scope.close();
  return settlement;
}

function outcomeOf<F extends Frame>(error: SvcError | undefined, scope: RunScope<F>): Outcome {
  if (error === undefined) return 'ok';
  if (error.kind === 'cancelled') return 'cancelled';
  return scope.handed ? 'partial' : 'error';
}

async function reportFailure<F extends Frame>(sink: Sink<F>, error: SvcError, scope: RunScope<F>) {
  try {
    await sink.fail(error);
  } catch (thrown) {
    scope.noteFault('sink_error', thrown);
  }
}

/**
 * The one way of an answer: pulled through its segments and taken to the sink, a live one frame
 * by frame, the next when the sink has taken the last, and a whole one in one piece.
 */
function send<F extends Frame>(
  answer: Answer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> | void {
  let source = toSource(answer);
  try {
    for (const segment of segments) source = through(source, segment, scope);
  } catch (thrown) {
    abandon(source, thrown);
    throw thrown;
  }
  if (!isWhole(answer)) return sendLive(source, scope, sink);
  const hand = (frames: readonly F[]): Promise<void> | void => {
    scope.mustBeComplete();
    scope.handed = true;
    const taken = sink.whole(frames);
    if (taken !== undefined) return scope.race(taken);
    const cancelled = scope.cancelled();
    if (cancelled !== undefined) throw cancelled;
    return undefined;
  };
  const frames: F[] = [];
  return takeReady(source, frames, scope)
    ? hand(frames)
    : takeRest(source, frames, scope).then(hand);
}

/** `source` behind one more segment. */
function through<F extends Frame>(
  source: Source<F>,
  segment: Segment<F>,
  scope: RunScope<F>,
): Source<F> {
  if (segment.form === 'fused') return new FusedSource(source, segment, scope);
  const { node, by } = segment;
  const nodeRun = scope.nodeRuns[node.index]!;
  try {
    // A stream that is busy would keep the source running until it is done.
    const cancel = (reason: unknown): void => abandon(source, reason);
    if ('form' in by) {
      // Handlers are timed and named where they are called.
      const stream = source.toStream().pipeThrough(handlersAsStream(by, scope));
      return Source.fromStream(stream).tap({ cancel });
    }
    const counted = source.tap({
      value: () => nodeRun.entered(scope.now()),
      // What broke before it got here is no fault of this node.
      error: (thrown) => scope.named(thrown),
    });
    const stream = counted.toStream().pipeThrough(by.transform(nodeRun));
    return Source.fromStream(stream).tap({
      value: () => nodeRun.left(scope.now()),
      error: (thrown) => toSvcError(thrown, node.name),
      cancel,
    });
  } catch (thrown) {
    throw toSvcError(thrown, node.name);
  }
}

/** Adds the frames that are there already to `frames`; true if those were all. */
function takeReady<F extends Frame>(source: Source<F>, frames: F[], scope: RunScope<F>): boolean {
  for (;;) {
    const frame = source.poll();
    if (frame === null) return false;
    if (frame === undefined) return true;
    scope.saw(frame);
    frames.push(frame);
  }
}

async function takeRest<F extends Frame>(
  source: Source<F>,
  frames: F[],
  scope: RunScope<F>,
): Promise<F[]> {
  do {
    try {
      await scope.race(source.wait());
    } catch (thrown) {
      abandon(source, thrown);
      throw thrown;
    }
  } while (!takeReady(source, frames, scope));
  return frames;
}

async function sendLive<F extends Frame>(
  source: Source<F>,
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    abandon(source, scope.cancelled());
  };
  scope.onCancel(stop);
  try {
    while (!isOver) {
      let frame: F | null | undefined;
      try {
        frame = source.poll();
      } catch (thrown) {
        isOver = true;
        throw scope.named(thrown);
      }
      if (frame === null) {
        // What is there already is written together.
        sink.flush?.();
        await scope.race(source.wait());
      } else if (frame === undefined) isOver = true;
      else {
        scope.leaves(frame);
        const written = sink.write(frame, source.isSpent);
        if (written !== undefined) await scope.race(written);
      }
    }
    const cancelled = scope.cancelled();
    if (cancelled !== undefined) throw cancelled;
    scope.mustBeComplete();
    await scope.race(Promise.resolve(sink.end()));
  } catch (thrown) {
    stop();
    throw thrown;
  }
}
