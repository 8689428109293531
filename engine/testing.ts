/**
 * Frames in, frames out: what the engine's own tests use, and what a plugin's
 * author needs to test a stage without a server.
 */
import type { LiveAnswer, WholeAnswer } from './answer.ts';
import { createCanceller } from './cancel.ts';
import type { CancelSignal } from './cancel.ts';
import { createManualClock } from './clock.ts';
import type { Clock } from './clock.ts';
import type { RunInfo } from './context.ts';
import type { SvcError } from './error.ts';
import type { Frame, FrameKinds } from './frame.ts';
import { compile } from './graph/compile.ts';
import type { CompileOptions, Plan } from './graph/compile.ts';
import { chain } from './graph/declare.ts';
import type { Graph } from './graph/declare.ts';
import { run } from './run.ts';
import type { Sink } from './run.ts';
import type { Settlement } from './settle.ts';
import { defineStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** A sink that keeps what it gets. */
export interface CollectingSink<F extends Frame> extends Sink<F> {
  readonly frames: readonly F[];
  readonly error: SvcError | undefined;
  /** True if the answer came as a live stream. */
  readonly wasLive: boolean;
}

export interface CollectingOptions {
  readonly signal?: CancelSignal;
  /** Called with every frame of a live answer; a promise holds the stream back until it resolves. */
  readonly onFrame?: (frame: Frame) => void | Promise<void>;
}

/** Makes a collecting sink; a write that is held back rejects when `signal` aborts. */
export function createCollectingSink<F extends Frame>({
  signal,
  onFrame,
}: CollectingOptions = {}): CollectingSink<F> {
  const frames: F[] = [];
  let error: SvcError | undefined;
  let wasLive = false;
  return {
    frames,
    get error() {
      return error;
    },
    get wasLive() {
      return wasLive;
    },
    whole: (answer) => void frames.push(...answer),
    write(frame) {
      wasLive = true;
      frames.push(frame);
      const held = onFrame?.(frame);
      if (held === undefined || signal === undefined) return held;
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        held.then(resolve, reject);
      });
    },
    end: () => undefined,
    fail: (failure) => void (error = failure),
  };
}

/** A run's identity for tests. */
export function testRun(
  clock: Clock = createManualClock(),
  signal: CancelSignal = createCanceller().signal,
): RunInfo {
  return {
    id: 'test-run',
    clock,
    startedWallMs: clock.wallMs(),
    startedMs: clock.monotonicMs(),
    signal,
  };
}

/** Compiles a graph and throws with every fault if it does not. */
export function mustCompile<F extends Frame>(
  graph: Graph<F>,
  options: CompileOptions<F> = {},
): Plan<F> {
  const { plan, faults } = compile(graph, options);
  if (plan !== undefined) return plan;
  throw new Error(faults.map((fault) => fault.message).join('\n'));
}

/**
 * Sends `frame` through `stages` in a row, behind them a stage that answers with
 * `answer` (whole), and `after` behind that. Returns what arrived and how it ended.
 */
export async function runStages<F extends Frame>(options: {
  readonly kinds: FrameKinds<F>;
  readonly frame: F;
  readonly stages?: readonly Stage<F>[];
  readonly answer: WholeAnswer<F> | (() => LiveAnswer<F>);
  readonly after?: readonly Stage<F>[];
  readonly splitter?: Stage<F>;
}): Promise<{ frames: readonly F[]; error: SvcError | undefined; settlement: Settlement<F> }> {
  const { kinds, frame, stages = [], answer, after = [], splitter } = options;
  const reply = typeof answer === 'function' ? answer : () => answer;
  const answering = defineStage<F, undefined, undefined>({
    name: 'test-answer',
    answers: true,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a map over the request kinds, each answered alike
    build: () => ({ on: Object.fromEntries(kinds.request.map((kind) => [kind, reply])) as object }),
  })(undefined, undefined);
  const plan = mustCompile(chain(kinds, [...stages, answering, ...after], splitter));
  const sink = createCollectingSink<F>();
  const settlement = await run(plan, frame, testRun(), sink);
  return { frames: sink.frames, error: sink.error, settlement };
}
