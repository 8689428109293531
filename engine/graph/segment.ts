/**
 * A segment: neighbouring stages that run as one. For each kind of frame it keeps the list of
 * handlers for it, so a kind that a node does not handle costs the node nothing.
 */
import type { StageContext } from '../context.ts';
import type { Frame, FrameKinds } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Handled, Stage, TransformBehaviour } from '../stage.ts';
import type { GraphNode, InnerNode } from './declare.ts';

export interface PlanNode<F extends Frame> {
  readonly name: string;
  readonly stage: Stage<F>;
  /** Position in the plan's list: where a run keeps this node's context. */
  readonly index: number;
  /** True if it may answer and a stage on its answer's path reads events. */
  readonly needsEvents: boolean;
  /** As in `GraphNode`. */
  readonly plugin: string | undefined;
  readonly about: readonly string[] | undefined;
  /** The node that it is inside of, if any: no frame passes it. */
  readonly within: string | undefined;
  /** What it does with each kind of frame that it handles or watches. */
  readonly steps: ReadonlyMap<F['kind'], NodeStep<F>>;
}

export type Handler<F extends Frame> = (
  frame: F,
  ctx: StageContext,
) => Handled<F> | Promise<Handled<F>>;
export type Watcher<F extends Frame> = (frame: F, ctx: StageContext) => void;

/** What a node does with one kind of frame. */
export interface NodeStep<F extends Frame> {
  readonly handle: Handler<F> | undefined;
  readonly watch: Watcher<F> | undefined;
}

/** The same for a node in a segment. */
export interface Step<F extends Frame> extends NodeStep<F> {
  readonly node: PlanNode<F>;
  /** The node's position in its segment. */
  readonly place: number;
}

/** Neighbours that run as one. */
export interface FusedSegment<F extends Frame> {
  readonly form: 'fused';
  /** All of them in order, including those without a step for any kind. */
  readonly nodes: readonly PlanNode<F>[];
  readonly steps: ReadonlyMap<F['kind'], readonly Step<F>[]>;
}

/** One stage with its own stream. */
export interface StreamSegment<F extends Frame> {
  readonly form: 'stream';
  readonly node: PlanNode<F>;
  readonly by: TransformBehaviour<F>;
}

export type Segment<F extends Frame> = FusedSegment<F> | StreamSegment<F>;

/** Looks the handlers of a node up, once for all runs. */
export function toPlanNode<F extends Frame>(
  node: GraphNode<F> | InnerNode<F>,
  index: number,
  needsEvents: boolean,
  kinds: FrameKinds<F>,
): PlanNode<F> {
  const { name, stage, plugin, about } = node;
  const within = 'within' in node ? node.within : undefined;
  const steps = new Map<F['kind'], NodeStep<F>>();
  const { on, watch } = isTransform(stage.behaviour) ? {} : stage.behaviour;
  for (const kind of [...kinds.request, ...kinds.response]) {
    // A handler is only looked up under the kind of the frame that it is then called with.
    const step = {
      handle: (on as { [kind: string]: Handler<F> } | undefined)?.[kind],
      watch: (watch as { [kind: string]: Watcher<F> } | undefined)?.[kind],
    };
    if (step.handle !== undefined || step.watch !== undefined) steps.set(kind, step);
  }
  return { name, stage, index, needsEvents, plugin, about, within, steps };
}

/** Makes one segment of `nodes`, none of which has its own stream. */
export function toFused<F extends Frame>(
  nodes: readonly PlanNode<F>[],
  kinds: readonly F['kind'][],
): FusedSegment<F> {
  const steps = new Map<F['kind'], readonly Step<F>[]>();
  for (const kind of kinds) {
    const stepsOfKind = nodes.flatMap((node, place) => {
      const step = node.steps.get(kind);
      return step === undefined ? [] : [{ node, place, ...step }];
    });
    if (stepsOfKind.length > 0) steps.set(kind, Object.freeze(stepsOfKind));
  }
  return Object.freeze({ form: 'fused', nodes, steps });
}
