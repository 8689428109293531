/** The request half of a run: a loop over one frame, which costs no turn of the queue for a stage that is done at once. */
import { isAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { SvcError, toSvcError } from './error.ts';
import type { Frame } from './frame.ts';
import type { Plan, PlanNode } from './graph/compile.ts';
import type { Segment, Step, Stop } from './graph/segment.ts';
import type { NodeRun } from './node-run.ts';
import type { RunScope } from './run-scope.ts';
import { isTransform } from './stage.ts';
import type { Handled, TransformBehaviour } from './stage.ts';

/** An answer, and the way that it takes from here. */
export interface Answered<F extends Frame> {
  readonly answer: Answer<F>;
  readonly segments: readonly Segment<F>[];
}

/** Takes `first` along the request path until a node answers it. Throws what a stage throws, named. */
export async function answerTo<F extends Frame>(
  plan: Plan<F>,
  first: F,
  scope: RunScope<F>,
): Promise<Answered<F>> {
  let frame = first;
  scope.saw(frame);
  let inMs = scope.now();
  for (const stop of plan.requestPath) {
    const { node } = stop;
    const passed = requestStep(stop, frame, scope);
    if (passed === undefined) continue;
    // A stage that is done at once costs no turn of the microtask queue.
    const result = passed instanceof Promise ? await passed : passed;
    const outMs = scope.now();
    scope.nodeRuns[node.index]!.timed(inMs, outMs);
    inMs = outMs;
    if (isAnswer<F>(result)) {
      if (node.stage.answers !== true) throw undeclared(node);
      scope.answeredBy(node.index);
      return { answer: result, segments: plan.answerPaths.get(node.index) ?? [] };
    }
    frame = result;
    scope.saw(frame);
  }
  throw new SvcError(
    'internal',
    'The request reached the end of the graph and no stage answered it',
  );
}

function undeclared<F extends Frame>({ name }: PlanNode<F>): SvcError {
  const error = new SvcError('internal', `Stage '${name}' answered without declaring that it does`);
  return toSvcError(error, name);
}

/** What a node makes of a request frame; undefined where it has no use for the kind. */
function requestStep<F extends Frame>(
  { node, steps }: Stop<F>,
  frame: F,
  scope: RunScope<F>,
): F | Answer<F> | Promise<F | Answer<F>> | undefined {
  const { behaviour } = node.stage;
  const step = steps.get(frame.kind);
  const nodeRun = scope.nodeRuns[node.index]!;
  try {
    if (isTransform(behaviour)) {
      return settled(
        scope.race(through(behaviour, frame, nodeRun)),
        undefined,
        frame,
        scope,
        nodeRun,
      );
    }
    if (step === undefined) return undefined;
    const handled = step.handle?.(frame, nodeRun);
    if (handled instanceof Promise) {
      return settled(scope.raceAnswer(handled), step.watch, frame, scope, nodeRun);
    }
    return watched(handled ?? frame, step.watch, scope, nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, node.name);
  }
}

async function settled<F extends Frame>(
  pending: Promise<Handled<F>>,
  watch: Step<F>['watch'],
  frame: F,
  scope: RunScope<F>,
  nodeRun: NodeRun,
): Promise<F | Answer<F>> {
  try {
    return watched((await pending) ?? frame, watch, scope, nodeRun);
  } catch (thrown) {
    throw toSvcError(thrown, nodeRun.node);
  }
}

function watched<F extends Frame>(
  result: F | Answer<F>,
  watch: Step<F>['watch'],
  scope: RunScope<F>,
  nodeRun: NodeRun,
): F | Answer<F> {
  if (watch !== undefined && !isAnswer<F>(result)) scope.watch(watch, result, nodeRun);
  return result;
}

/** One request frame through an author's own stream. */
async function through<F extends Frame>(
  behaviour: TransformBehaviour<F>,
  frame: F,
  ctx: Parameters<TransformBehaviour<F>['transform']>[0],
): Promise<F> {
  const { readable, writable } = behaviour.transform(ctx);
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const written = writer.write(frame).then(() => writer.close());
  const { value } = await reader.read();
  written.catch(() => undefined);
  reader.cancel().catch(() => undefined);
  if (value === undefined)
    throw new SvcError('internal', 'The stream ended without passing the request on');
  return value;
}
