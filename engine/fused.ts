/**
 * Frames on their way through the handlers of one segment. It runs synchronously until a handler
 * returns a promise; then it waits for that one, and order is kept.
 */
import { abandon, isAnswer, isWhole, toSource } from './answer.ts';
import type { StageContext } from './context.ts';
import { SvcError, toSvcError } from './error.ts';
import type { Frame, FrameKinds } from './frame.ts';
import type { FusedSegment, Step, Watcher } from './graph/segment.ts';
import type { NodeRun } from './node-run.ts';
import { Source } from './source.ts';
import type { Handled } from './stage.ts';

/** What handlers need of a run. */
export interface StepScope<F extends Frame> {
  readonly kinds: FrameKinds<F>;
  readonly nodeRuns: readonly NodeRun[];
  now(): number;
  /** Settles as `promise` does, or rejects as soon as the run is cancelled. */
  raceAnswer(promise: Promise<Handled<F>>): Promise<Handled<F>>;
}

/** One frame, or the list of those that stand in its place. */
type Passed<F extends Frame> = F | readonly F[];

/** Above this many steps, reading the clock around each would cost more than 3 µs a frame. */
const MAX_TIMED_STEPS = 32;

export class FusedSource<F extends Frame> extends Source<F> {
  readonly #segment: FusedSegment<F>;
  readonly #scope: StepScope<F>;
  #source: Source<F>;
  /** Where frames of the source come in: behind the node that put it in the place of another. */
  #from = 0;
  #ready: F[] | undefined;
  #pending: Promise<void> | undefined;
  #thrown: { readonly thrown: unknown } | undefined;

  constructor(source: Source<F>, segment: FusedSegment<F>, scope: StepScope<F>) {
    super();
    this.#source = source;
    this.#segment = segment;
    this.#scope = scope;
  }

  poll(): F | null | undefined {
    for (;;) {
      if (this.#pending !== undefined) return null;
      if (this.#thrown !== undefined) throw this.#thrown.thrown;
      if (this.#ready !== undefined && this.#ready.length > 0) return this.#ready.shift();
      const frame = this.#source.poll();
      if (frame === null || frame === undefined) return frame;
      let passed: Passed<F> | Promise<Passed<F>>;
      try {
        passed = this.#pass(frame, this.#from);
      } catch (thrown) {
        this.cancel(thrown);
        throw thrown;
      }
      if (passed instanceof Promise) this.#pending = this.#later(passed);
      else if (isList(passed)) this.#ready = [...passed];
      else return passed;
    }
  }

  wait(): Promise<void> {
    return this.#pending ?? this.#source.wait();
  }

  override get isSpent(): boolean {
    const isHeld =
      this.#pending !== undefined || (this.#ready !== undefined && this.#ready.length > 0);
    return !isHeld && this.#source.isSpent;
  }

  cancel(reason: unknown): void {
    this.#ready = undefined;
    this.#goOnWith(Source.of<F>([]), 0, reason);
  }

  async #later(passed: Promise<Passed<F>>): Promise<void> {
    try {
      const made = await passed;
      this.#ready = isList(made) ? [...made] : [made];
    } catch (thrown) {
      this.#thrown = { thrown };
      this.cancel(thrown);
    }
    this.#pending = undefined;
  }

  /** What becomes of `frame` behind the nodes that stand before `place`. */
  #pass(frame: F, place: number): Passed<F> | Promise<Passed<F>> {
    const steps = this.#segment.steps.get(frame.kind);
    if (steps === undefined) return frame;
    let first = 0;
    while (first < steps.length && steps[first]!.place < place) first += 1;
    return this.#through(steps, frame, first);
  }

  #through(steps: readonly Step<F>[], frame: F, first: number): Passed<F> | Promise<Passed<F>> {
    const isTimed = steps.length <= MAX_TIMED_STEPS;
    let current = frame;
    let inMs = isTimed ? this.#scope.now() : 0;
    for (let at = first; at < steps.length; at += 1) {
      const step = steps[at]!;
      const nodeRun = this.#scope.nodeRuns[step.node.index]!;
      if (step.handle !== undefined) {
        let result: Handled<F> | Promise<Handled<F>>;
        try {
          result = step.handle(current, nodeRun);
        } catch (thrown) {
          throw toSvcError(thrown, nodeRun.node);
        }
        if (result instanceof Promise) return this.#resume(result, steps, current, at, inMs);
        if (result !== undefined) {
          if (!isSameKind(result, current))
            return this.#replaced(result, current, step, nodeRun, inMs);
          current = result;
        }
      }
      if (step.watch !== undefined) watchSafely(step.watch, current, nodeRun);
      if (isTimed) {
        const outMs = this.#scope.now();
        nodeRun.timed(inMs, outMs);
        inMs = outMs;
      } else nodeRun.counted();
    }
    return current;
  }

  async #resume(
    pending: Promise<Handled<F>>,
    steps: readonly Step<F>[],
    frame: F,
    at: number,
    inMs: number,
  ): Promise<Passed<F>> {
    const step = steps[at]!;
    const nodeRun = this.#scope.nodeRuns[step.node.index]!;
    let result: Handled<F>;
    try {
      result = await this.#scope.raceAnswer(pending);
    } catch (thrown) {
      throw toSvcError(thrown, nodeRun.node);
    }
    const current = result ?? frame;
    if (result === null || !isSameKind(current, frame))
      return this.#replaced(result, frame, step, nodeRun, inMs);
    if (step.watch !== undefined) watchSafely(step.watch, current, nodeRun);
    nodeRun.timed(inMs || this.#scope.now(), this.#scope.now());
    return this.#through(steps, current, at + 1);
  }

  /** What a handler returned for `frame` that is not simply another frame of its kind. */
  #replaced(
    result: Handled<F>,
    frame: F,
    step: Step<F>,
    nodeRun: NodeRun,
    inMs: number,
  ): Passed<F> | Promise<Passed<F>> {
    const { kinds } = this.#scope;
    const frames = standIns(result, frame, kinds, nodeRun.node);
    if (frames === undefined) {
      // Checked to be an answer, and no list.
      const live = toSource(result as Exclude<Handled<F>, F | undefined | void>);
      this.#goOnWith(
        live.tap({ error: (thrown) => toSvcError(thrown, nodeRun.node) }),
        step.place + 1,
      );
    } else {
      for (const each of frames) {
        const watch = this.#watchOf(each, step);
        if (watch !== undefined) watchSafely(watch, each, nodeRun);
      }
      if (frame.kind !== kinds.last && frames.at(-1)?.kind === kinds.last)
        this.#goOnWith(Source.of<F>([]), 0);
    }
    nodeRun.timed(inMs || this.#scope.now(), this.#scope.now());
    return this.#passAll(frames ?? [], step.place + 1, []);
  }

  /** The node's watcher for a frame that it returned; a request's is that of the kind it got. */
  #watchOf(frame: F, step: Step<F>): Watcher<F> | undefined {
    if (this.#scope.kinds.request.includes(frame.kind)) return step.watch;
    return this.#segment.steps.get(frame.kind)?.find(({ place }) => place === step.place)?.watch;
  }

  /** From here on `source` takes the place of what was read so far. */
  #goOnWith(source: Source<F>, place: number, reason?: unknown): void {
    abandon(this.#source, reason);
    this.#source = source;
    this.#from = place;
  }

  /** Adds to `done` what becomes of `frames`, in order, until one of them ends the answer or goes on with another. */
  #passAll(frames: readonly F[], place: number, done: F[]): readonly F[] | Promise<readonly F[]> {
    const source = this.#source;
    for (let at = 0; at < frames.length && source === this.#source; at += 1) {
      const passed = this.#pass(frames[at]!, place);
      if (passed instanceof Promise) {
        return passed.then((made) => {
          add(made, done);
          return source === this.#source ? this.#passAll(frames.slice(at + 1), place, done) : done;
        });
      }
      add(passed, done);
    }
    return done;
  }
}

function isList<F extends Frame>(passed: Passed<F>): passed is readonly F[] {
  return Array.isArray(passed);
}

function add<F extends Frame>(passed: Passed<F>, to: F[]): void {
  if (isList(passed)) to.push(...passed);
  else to.push(passed);
}

function isSameKind<F extends Frame>(result: Handled<F>, frame: F): result is F {
  return (result as F | null)?.kind === frame.kind;
}

/** The frames that stand in the place of `frame`; undefined where a live answer does. Throws for anything else. */
function standIns<F extends Frame>(
  result: Handled<F>,
  frame: F,
  kinds: FrameKinds<F>,
  node: string,
): readonly F[] | undefined {
  // Code without types may return anything.
  const given = result as F | readonly F[] | null | string;
  const isRequest = kinds.request.includes(frame.kind);
  let got = `a '${String((given as F | null)?.kind)}'`;
  if (given === null || typeof given !== 'object')
    got = `a ${given === null ? 'null' : typeof given}`;
  else if (!isAnswer<F>(given)) {
    if (isRequest && kinds.request.includes(given.kind)) return [given];
  } else if (!isWhole(given)) return undefined;
  else {
    if (isRequest || keepsOrder(given, frame, kinds)) return given;
    got = `a list of [${given.map((each) => String((each as F | null)?.kind)).join(', ')}]`;
  }
  const message = `Stage '${node}' returned ${got} for a '${frame.kind}' frame`;
  throw toSvcError(new SvcError('internal', message), node);
}

/** True if an answer stays in order with `frames` in the place of `frame`. */
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

/** A watcher changes nothing, and nor does its fault. */
export function watchSafely<F extends Frame>(
  watch: (frame: F, ctx: StageContext) => void,
  frame: F,
  nodeRun: NodeRun,
): void {
  try {
    watch(frame, nodeRun);
  } catch (thrown) {
    nodeRun.note('watch_error', thrown instanceof Error ? thrown.message : 'unknown');
  }
}
