/**
 * Frames passing the handlers of one segment. A handler's promise is awaited, so that the order of
 * frames is kept.
 */
import { abandon, isAnswer, isWhole } from './answer.ts';
import type { LiveAnswer } from './answer.ts';
import type { StageContext } from './context.ts';
import { SvcError, toSvcError } from './error.ts';
import type { Frame, FrameKinds } from './frame.ts';
import type { FusedSegment, Step, Watcher } from './graph/segment.ts';
import type { NodeRun } from './node-run.ts';
import type { Handled } from './stage.ts';

/** The part of a run that handlers need. */
export interface StepScope<F extends Frame> {
  readonly kinds: FrameKinds<F>;
  readonly nodeRuns: readonly NodeRun[];
  now(): number;
  /** Settles with a handler's result, or rejects as soon as the run is cancelled. */
  raceAnswer(handled: Promise<Handled<F>>): Promise<Handled<F>>;
}

/** What replaces the source's further frames. */
export interface Rest<F extends Frame> {
  /** Undefined if the answer ends here. */
  readonly answer: LiveAnswer<F> | undefined;
  /** The place where its frames enter: after the node that returned it. */
  readonly place: number;
  /** The node that returned it; errors of the answer are attributed to it. */
  readonly node: string;
}

/** Frames on their way through handlers: yields what a handler promised, and gets its result. */
type Passing<F extends Frame> = Generator<Promise<Handled<F>>, readonly F[], Handled<F>>;

/** Above this many steps, reading the clock around each would cost more than 3 µs a frame. */
const MAX_TIMED_STEPS = 32;

export class SegmentRun<F extends Frame> {
  /** Set once a handler has ended the answer or replaced its rest: further frames are dropped. */
  rest: Rest<F> | undefined;
  readonly #segment: FusedSegment<F>;
  readonly #scope: StepScope<F>;
  readonly #from: number;

  /** Frames enter before the node at the place `from` of the segment. */
  constructor(segment: FusedSegment<F>, scope: StepScope<F>, from = 0) {
    this.#segment = segment;
    this.#scope = scope;
    this.#from = from;
  }

  /**
   * Returns the frames that replace `frames`, as a promise only if a handler returned one: awaiting
   * nothing adds a tenth to the cost of a chunk in the engine (Node 20). Fails with a handler's
   * error, named after its node.
   */
  pass(frames: readonly F[]): readonly F[] | Promise<readonly F[]> {
    const passing = this.#passAll(frames, this.#from);
    const next = passing.next();
    return next.done === true ? next.value : this.#finish(passing, next.value);
  }

  /** Resumes `passing` whenever the promise it waits for settles. */
  async #finish(passing: Passing<F>, promise: Promise<Handled<F>>): Promise<readonly F[]> {
    for (let pending = promise; ;) {
      const resume = await this.#scope.raceAnswer(pending).then(
        (result) => () => passing.next(result),
        (thrown: unknown) => () => passing.throw(thrown),
      );
      const next = resume();
      if (next.done === true) return next.value;
      pending = next.value;
    }
  }

  *#passAll(frames: readonly F[], from: number): Passing<F> {
    const { rest } = this;
    const passed: F[] = [];
    for (const frame of frames) {
      passed.push(...(yield* this.#passOne(frame, from)));
      // A handler has replaced the rest of these frames.
      if (this.rest !== rest) break;
    }
    return passed;
  }

  *#passOne(frame: F, from: number): Passing<F> {
    const steps = this.#segment.steps.get(frame.kind);
    if (steps === undefined) return [frame];
    const isTimed = steps.length <= MAX_TIMED_STEPS;
    let current = frame;
    let inMs = isTimed ? this.#scope.now() : 0;
    for (let at = 0; at < steps.length; at += 1) {
      const step = steps[at]!;
      if (step.place < from) continue;
      const nodeRun = this.#scope.nodeRuns[step.node.index]!;
      let result: Handled<F>;
      try {
        const handled = step.handle?.(current, nodeRun);
        result = handled instanceof Promise ? yield handled : handled;
      } catch (thrown) {
        throw toSvcError(thrown, nodeRun.node);
      }
      const isReplaced = result !== undefined && (result as F | null)?.kind !== current.kind;
      if (!isReplaced) {
        // Already checked to be a frame of the same kind.
        current = (result as F | undefined) ?? current;
        if (step.watch !== undefined) watchSafely(step.watch, current, nodeRun);
      }
      if (isTimed) {
        const outMs = this.#scope.now();
        nodeRun.recordFrame(inMs, outMs);
        inMs = outMs;
      } else nodeRun.countFrame();
      if (isReplaced) return yield* this.#replace(result, current, step, nodeRun);
    }
    return [current];
  }

  /** Handles a handler's result for `frame` that is not simply another frame of its kind. */
  *#replace(result: Handled<F>, frame: F, step: Step<F>, nodeRun: NodeRun): Passing<F> {
    const { kinds } = this.#scope;
    const { node } = nodeRun;
    const place = step.place + 1;
    const frames = replacementOf(result, frame, kinds, node);
    if (!isWhole(frames)) {
      this.#goOnWith({ answer: frames, place, node });
      return [];
    }
    for (const each of frames) {
      const watch = this.#watchOf(each, step);
      if (watch !== undefined) watchSafely(watch, each, nodeRun);
    }
    if (frame.kind !== kinds.last && frames.at(-1)?.kind === kinds.last)
      this.#goOnWith({ answer: undefined, place, node });
    return yield* this.#passAll(frames, place);
  }

  #goOnWith(rest: Rest<F>): void {
    if (this.rest?.answer !== undefined) abandon(this.rest.answer, undefined);
    this.rest = rest;
  }

  /**
   * Returns the node's watcher for a frame that it returned; a request frame uses the watcher of
   * the kind it received.
   */
  #watchOf(frame: F, step: Step<F>): Watcher<F> | undefined {
    if (this.#scope.kinds.request.includes(frame.kind)) return step.watch;
    return this.#segment.steps.get(frame.kind)?.find(({ place }) => place === step.place)?.watch;
  }
}

/** Returns what replaces `frame`: a list of frames or a live answer. Throws for anything else. */
function replacementOf<F extends Frame>(
  result: Handled<F>,
  frame: F,
  kinds: FrameKinds<F>,
  node: string,
): readonly F[] | LiveAnswer<F> {
  // Untyped code may return anything.
  const given = result as F | readonly F[] | null | string;
  const isRequest = kinds.request.includes(frame.kind);
  let description = `a '${String((given as F | null)?.kind)}'`;
  if (given === null || typeof given !== 'object')
    description = `a ${given === null ? 'null' : typeof given}`;
  else if (!isAnswer<F>(given)) {
    if (isRequest && kinds.request.includes(given.kind)) return [given];
  } else if (!isWhole(given) || isRequest || keepsOrder(given, frame, kinds)) return given;
  else
    description = `a list of [${given.map((each) => String((each as F | null)?.kind)).join(', ')}]`;
  const message = `Stage '${node}' returned ${description} for a '${frame.kind}' frame`;
  throw toSvcError(new SvcError('internal', message), node);
}

/** Returns true if an answer stays in order with `frames` in place of `frame`. */
function keepsOrder<F extends Frame>(
  frames: readonly F[],
  frame: F,
  { response, last }: FrameKinds<F>,
): boolean {
  const first = response[0];
  if (frame.kind === first && frames[0]?.kind !== first) return false;
  if (frame.kind === last && frames.at(-1)?.kind !== last) return false;
  return frames.every((each, at) => {
    const kind = (each as F | null)?.kind;
    if (kind === first) return at === 0 && frame.kind === first;
    if (kind === last) return at === frames.length - 1;
    return kind !== undefined && response.includes(kind);
  });
}

/** Calls a watcher, which changes nothing; if it throws, the fault is only noted. */
export function watchSafely<F extends Frame>(
  watch: (frame: F, ctx: StageContext) => void,
  frame: F,
  nodeRun: NodeRun,
): void {
  try {
    watch(frame, nodeRun);
  } catch (thrown) {
    nodeRun.noteFault('watch_error', thrown);
  }
}
