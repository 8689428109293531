/**
 * A segment: neighbouring stages that run as one. For each kind of frame it keeps the list of
 * handlers for it, so a kind that a node does not handle costs the node nothing.
 */
import type { StageContext } from '../context.ts';
import type { Frame } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Handled, TransformBehaviour } from '../stage.ts';
import type { Stage } from '../stage.ts';

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
}

export type Handler<F extends Frame> = (
  frame: F,
  ctx: StageContext,
) => Handled<F> | Promise<Handled<F>>;
export type Watcher<F extends Frame> = (frame: F, ctx: StageContext) => void;

/** What one node does with one frame kind. */
export interface Step<F extends Frame> {
  readonly node: PlanNode<F>;
  /** The node's position in its segment. */
  readonly place: number;
  readonly handle: Handler<F> | undefined;
  readonly watch: Watcher<F> | undefined;
}

/** A node on the request path, with its step for each kind of frame. */
export interface Stop<F extends Frame> {
  readonly node: PlanNode<F>;
  readonly steps: ReadonlyMap<F['kind'], Step<F>>;
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

function stepOf<F extends Frame>(
  node: PlanNode<F>,
  kind: F['kind'],
  place: number,
): Step<F> | undefined {
  const { behaviour } = node.stage;
  if (isTransform(behaviour)) return undefined;
  // A handler is only looked up under the kind of the frame that it is then called with.
  const handle = (behaviour.on as { [kind: string]: Handler<F> } | undefined)?.[kind];
  const watch = (behaviour.watch as { [kind: string]: Watcher<F> } | undefined)?.[kind];
  return handle === undefined && watch === undefined ? undefined : { node, place, handle, watch };
}

/** Returns true if the node handles or watches a frame of one of `kinds`. */
export function handlesAny<F extends Frame>(
  node: PlanNode<F>,
  kinds: readonly F['kind'][],
): boolean {
  return kinds.some((kind) => stepOf(node, kind, 0) !== undefined);
}

/** Looks the node's steps up once, for all runs. */
export function toStop<F extends Frame>(node: PlanNode<F>, kinds: readonly F['kind'][]): Stop<F> {
  const steps = new Map<F['kind'], Step<F>>();
  for (const kind of kinds) {
    const step = stepOf(node, kind, 0);
    if (step !== undefined) steps.set(kind, step);
  }
  return Object.freeze({ node, steps });
}

/** Makes one segment of `nodes`, none of which has its own stream. */
export function toFused<F extends Frame>(
  nodes: readonly PlanNode<F>[],
  kinds: readonly F['kind'][],
): FusedSegment<F> {
  const steps = new Map<F['kind'], readonly Step<F>[]>();
  for (const kind of kinds) {
    const wanted = nodes.map((node, place) => stepOf(node, kind, place));
    const taken = wanted.filter((step) => step !== undefined);
    if (taken.length > 0) steps.set(kind, Object.freeze(taken));
  }
  return Object.freeze({ form: 'fused', nodes, steps });
}
