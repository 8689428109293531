/**
 * A segment: neighbouring stages that run as one. For each kind of frame it keeps the list
 * of the handlers that want it, so a node that does not handle a kind costs nothing for it.
 */
import { isAnswer } from '../answer.ts';
import type { Answer } from '../answer.ts';
import type { StageContext } from '../context.ts';
import { SvcError, toSvcError } from '../error.ts';
import type { Frame } from '../frame.ts';
import type { NodeRun } from '../node-run.ts';
import { isTransform } from '../stage.ts';
import type { Handled, TransformBehaviour } from '../stage.ts';
import type { PlanNode } from './compile.ts';

type Handler<F extends Frame> = (frame: F, ctx: StageContext) => Handled<F> | Promise<Handled<F>>;
type Watcher<F extends Frame> = (frame: F, ctx: StageContext) => void;

/** What one node does with one frame kind. */
export interface Step<F extends Frame> {
  readonly node: PlanNode<F>;
  readonly handle: Handler<F> | undefined;
  readonly watch: Watcher<F> | undefined;
}

/** A node on the request's way, with the step that it takes for each kind of frame. */
export interface Stop<F extends Frame> {
  readonly node: PlanNode<F>;
  readonly steps: ReadonlyMap<F['kind'], Step<F>>;
}

export type Segment<F extends Frame> =
  | {
      readonly form: 'fused';
      readonly nodes: readonly PlanNode<F>[];
      readonly steps: ReadonlyMap<F['kind'], readonly Step<F>[]>;
    }
  | {
      readonly form: 'own';
      readonly node: PlanNode<F>;
      readonly behaviour: TransformBehaviour<F>;
    };

/** What applying steps needs of a run. */
export interface StepScope {
  readonly nodeRuns: readonly NodeRun[];
  now(): number;
  /** Settles as `promise` does, or rejects as soon as the run is cancelled. */
  race<T>(promise: Promise<T>): Promise<T>;
}

/** The step that `node` takes for frames of `kind`, or undefined if it takes none. */
export function stepOf<F extends Frame>(node: PlanNode<F>, kind: F['kind']): Step<F> | undefined {
  const { behaviour } = node.stage;
  if (isTransform(behaviour)) return undefined;
  // A handler is only ever looked up under the kind of the frame that it is then given.
  const handle = (behaviour.on as { [kind: string]: Handler<F> } | undefined)?.[kind];
  const watch = (behaviour.watch as { [kind: string]: Watcher<F> } | undefined)?.[kind];
  return handle === undefined && watch === undefined ? undefined : { node, handle, watch };
}

/** Looks the node's steps up once, for all runs. */
export function toStop<F extends Frame>(node: PlanNode<F>, kinds: readonly F['kind'][]): Stop<F> {
  const steps = new Map<F['kind'], Step<F>>();
  for (const kind of kinds) {
    const step = stepOf(node, kind);
    if (step !== undefined) steps.set(kind, step);
  }
  return Object.freeze({ node, steps });
}

/** Makes one segment of `nodes`: either one that brings its own stream, or any number that do not. */
export function toSegment<F extends Frame>(
  nodes: readonly PlanNode<F>[],
  kinds: readonly F['kind'][],
): Segment<F> {
  const first = nodes[0];
  if (first !== undefined && isTransform(first.stage.behaviour)) {
    return { form: 'own', node: first, behaviour: first.stage.behaviour };
  }
  const steps = new Map<F['kind'], readonly Step<F>[]>();
  for (const kind of kinds) {
    const wanted = nodes.map((node) => stepOf(node, kind)).filter((step) => step !== undefined);
    if (wanted.length > 0) steps.set(kind, Object.freeze(wanted));
  }
  return Object.freeze({ form: 'fused', nodes, steps });
}

/** Above this many steps, reading the clock around each would cost more than 3 µs a frame. */
const MAX_TIMED_STEPS = 32;

function mustStay<F extends Frame>(result: F | Answer<F>, kind: string, node: string): F {
  if (!isAnswer<F>(result) && result.kind === kind) return result;
  const got = isAnswer<F>(result) ? 'an answer' : `a '${result.kind}'`;
  throw toSvcError(
    new SvcError('internal', `Stage '${node}' returned ${got} for a '${kind}' frame`),
    node,
  );
}

function watchSafely<F extends Frame>(watch: Watcher<F>, frame: F, nodeRun: NodeRun): void {
  try {
    watch(frame, nodeRun);
  } catch (thrown) {
    nodeRun.note('watch_error', thrown instanceof Error ? thrown.message : 'unknown');
  }
}

/**
 * Takes a response frame through `steps` from `from` on. Runs synchronously
 * until a handler returns a promise; from there the result is a promise too.
 */
export function applySteps<F extends Frame>(
  steps: readonly Step<F>[],
  frame: F,
  scope: StepScope,
  from = 0,
): F | Promise<F> {
  const timing = steps.length <= MAX_TIMED_STEPS;
  let current = frame;
  let inMs = timing ? scope.now() : 0;
  for (let i = from; i < steps.length; i += 1) {
    const step = steps[i]!;
    const nodeRun = scope.nodeRuns[step.node.index]!;
    if (step.handle !== undefined) {
      const result = callHandler(step.handle, current, nodeRun);
      if (result instanceof Promise) return resume(result, steps, current, scope, i, inMs);
      if (result !== undefined) current = mustStay(result, frame.kind, nodeRun.node);
    }
    if (step.watch !== undefined) watchSafely(step.watch, current, nodeRun);
    if (timing) {
      const outMs = scope.now();
      nodeRun.timed(inMs, outMs);
      inMs = outMs;
    } else nodeRun.counted();
  }
  return current;
}

function callHandler<F extends Frame>(
  handle: Handler<F>,
  frame: F,
  nodeRun: NodeRun,
): Handled<F> | Promise<Handled<F>> {
  try {
    return handle(frame, nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, nodeRun.node);
  }
}

async function resume<F extends Frame>(
  pending: Promise<Handled<F>>,
  steps: readonly Step<F>[],
  frame: F,
  scope: StepScope,
  at: number,
  inMs: number,
): Promise<F> {
  const step = steps[at]!;
  const nodeRun = scope.nodeRuns[step.node.index]!;
  let current = frame;
  try {
    const result = await scope.race(pending);
    if (result !== undefined) current = mustStay(result, frame.kind, nodeRun.node);
  } catch (thrown) {
    throw toSvcError(thrown, nodeRun.node);
  }
  if (step.watch !== undefined) watchSafely(step.watch, current, nodeRun);
  nodeRun.timed(inMs || scope.now(), scope.now());
  return applySteps(steps, current, scope, at + 1);
}
