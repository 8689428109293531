/**
 * One run through a plan: the request half is a loop over one frame, the response half a
 * loop that pulls frames through the segments into the sink, or a pipe of web streams where a
 * stage brings its own. How it ended is told to every stage exactly once.
 */
import { abandon, isWhole, toLive, toPulled, toStream } from './answer.ts';
import type { LiveAnswer, WholeAnswer } from './answer.ts';
import { answerTo } from './answer-to.ts';
import type { RunInfo } from './context.ts';
import { SvcError, toSvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { Plan } from './graph/compile.ts';
import { applySteps } from './graph/segment.ts';
import type { Segment } from './graph/segment.ts';
import { RunScope } from './run-scope.ts';
import type { Outcome, Settlement } from './settle.ts';

/** Where an answer goes. */
export interface Sink<F extends Frame> {
  /** Takes an answer that is complete. */
  whole(frames: readonly F[]): void | Promise<void>;
  /**
   * Takes one frame of a live answer. A promise holds the source back until it
   * settles; it must reject as soon as the run's signal aborts.
   */
  write(frame: F): void | Promise<void>;
  /** Nothing more is there for now: what was written may leave at once. Never throws. */
  flush?(): void;
  /** The live answer is complete. Resolves when the last of it has been handed over. */
  end(): void | Promise<void>;
  /** Tells the client that the run failed, in whatever way is still possible. */
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
    const sent = isWhole(answer)
      ? sendWhole(answer, segments, scope, sink)
      : sendLive(answer, segments, scope, sink);
    if (sent !== undefined) await sent;
  } catch (thrown) {
    error = toSvcError(scope.cancelled() ?? thrown);
  }
  const outcome = outcomeOf(error, scope);
  if (error !== undefined && outcome !== 'cancelled') await tell(sink, error, scope);
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

async function tell<F extends Frame>(sink: Sink<F>, error: SvcError, scope: RunScope<F>) {
  try {
    await sink.fail(error);
  } catch (thrown) {
    scope.noteFault('sink_error', thrown);
  }
}

/** A complete answer: every frame through every segment, then to the sink in one piece. */
function sendWhole<F extends Frame>(
  answer: WholeAnswer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> | void {
  if (segments.some((segment) => segment.form === 'own'))
    return sendLive(toLive(answer), segments, scope, sink);
  const hand = (frames: readonly F[]): Promise<void> | void => {
    scope.mustBeComplete();
    scope.handed = true;
    const taken = sink.whole(frames);
    if (taken !== undefined) return scope.race(taken);
    const cancelled = scope.cancelled();
    if (cancelled !== undefined) throw cancelled;
    return undefined;
  };
  const frames = throughAll(answer, [], segments, scope);
  return frames instanceof Promise ? frames.then(hand) : hand(frames);
}

/** Adds to `done` what becomes of the frames behind those in it; a promise where a handler gives one. */
function throughAll<F extends Frame>(
  answer: WholeAnswer<F>,
  done: F[],
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
): F[] | Promise<F[]> {
  while (done.length < answer.length) {
    const frame = throughSegments(answer[done.length]!, 0, segments, scope);
    if (frame instanceof Promise) {
      return frame.then((shaped) => {
        scope.saw(shaped);
        done.push(shaped);
        return throughAll(answer, done, segments, scope);
      });
    }
    scope.saw(frame);
    done.push(frame);
  }
  return done;
}

/** One frame through the segments from `from` on. */
function throughSegments<F extends Frame>(
  frame: F,
  from: number,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
): F | Promise<F> {
  let current = frame;
  for (let at = from; at < segments.length; at += 1) {
    const segment = segments[at]!;
    const steps = segment.form === 'fused' ? segment.steps.get(current.kind) : undefined;
    if (steps === undefined) continue;
    const result = applySteps(steps, current, scope);
    if (result instanceof Promise)
      return result.then((shaped) => throughSegments(shaped, at + 1, segments, scope));
    current = result;
  }
  return current;
}

/**
 * A live answer. Stages that are fused into one segment are run by the loop that
 * reads the source and feeds the sink; where a stage brings its own stream, each
 * segment is a stream in a pipe. A test holds the two to the same frames, errors
 * and ends.
 */
async function sendLive<F extends Frame>(
  answer: LiveAnswer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  const [only] = segments.length === 0 ? [emptySegment<F>()] : segments;
  if (segments.length <= 1 && only?.form === 'fused') await pump(answer, only, scope, sink);
  else await pipe(answer, segments, scope, sink);
}

/** One frame at a time: the next is pulled when the sink has taken the last. */
async function pump<F extends Frame>(
  answer: LiveAnswer<F>,
  segment: Extract<Segment<F>, { form: 'fused' }>,
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  const source = toPulled(answer);
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    abandon(source, scope.cancelled());
  };
  scope.onCancel(stop);
  try {
    while (!isOver) {
      let pulled: F | null | undefined;
      try {
        pulled = source.poll();
        // What is there already costs no promise, and is written together.
        if (pulled === null) {
          sink.flush?.();
          pulled = await scope.race(source.read());
        }
      } catch (thrown) {
        isOver = true;
        throw thrown;
      }
      if (pulled === undefined) {
        isOver = true;
        break;
      }
      const steps = segment.steps.get(pulled.kind);
      const result = steps === undefined ? pulled : applySteps(steps, pulled, scope);
      const frame = result instanceof Promise ? await result : result;
      scope.leaves(frame);
      const written = sink.write(frame);
      if (written !== undefined) await scope.race(written);
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

/** One stream a segment, and the last one also sees what leaves the graph. */
async function pipe<F extends Frame>(
  answer: LiveAnswer<F>,
  segments: readonly Segment<F>[],
  scope: RunScope<F>,
  sink: Sink<F>,
): Promise<void> {
  const lastIsOwn = segments.at(-1)?.form === 'own';
  const list = lastIsOwn ? [...segments, emptySegment<F>()] : segments;
  let stream = toStream(answer);
  for (const [index, segment] of list.entries()) {
    stream = stream.pipeThrough(openSegment(segment, scope, index === list.length - 1));
  }
  const writable = new WritableStream<F>({
    // A pipe that was told to abort would leave its source running; one whose end fails does not.
    start: (controller) => scope.onCancel(() => controller.error(scope.cancelled())),
    write: (frame) => sink.write(frame),
    close: () => sink.end(),
  });
  // A failed source leaves the sink usable, so that it can still say what happened.
  await stream.pipeTo(writable, { preventAbort: true });
}

function emptySegment<F extends Frame>(): Segment<F> {
  return { form: 'fused', nodes: [], steps: new Map() };
}

function openSegment<F extends Frame>(
  segment: Segment<F>,
  scope: RunScope<F>,
  isLast: boolean,
): ReadableWritablePair<F, F> {
  if (segment.form === 'own') {
    const nodeRun = scope.nodeRuns[segment.node.index]!;
    try {
      return segment.behaviour.transform(nodeRun);
    } catch (thrown) {
      throw toSvcError(thrown, segment.node.name);
    }
  }
  const emit = (frame: F, controller: TransformStreamDefaultController<F>) => {
    if (isLast) scope.leaves(frame);
    controller.enqueue(frame);
  };
  return new TransformStream<F, F>({
    transform(frame, controller) {
      const steps = segment.steps.get(frame.kind);
      const result = steps === undefined ? frame : applySteps(steps, frame, scope);
      if (result instanceof Promise) return result.then((value) => emit(value, controller));
      emit(result, controller);
      return undefined;
    },
    flush() {
      if (isLast) scope.mustBeComplete();
    },
  });
}
