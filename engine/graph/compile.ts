/**
 * From a graph to a plan: checks everything once, at start, and precomputes paths and segments, so
 * that a run only walks lists.
 */
import type { Frame, FrameKinds } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Graph, GraphFault, GraphNode, InnerNode, Insertion } from './declare.ts';
import { insert } from './insert.ts';
import { requestPathOf, responsePathOf } from './path.ts';
import { toFused, toPlanNode } from './segment.ts';
import type { PlanNode, Segment } from './segment.ts';
import { validate } from './validate.ts';

/** A compiled graph: frozen, shared by all runs. */
export interface Plan<F extends Frame> {
  /** All nodes, in the order in which frames reach them; a node inside another follows it. */
  readonly nodes: readonly PlanNode<F>[];
  readonly requestPath: readonly PlanNode<F>[];
  /** For each node that may answer, by its index: the segments its answer passes. */
  readonly answerPaths: ReadonlyMap<number, readonly Segment<F>[]>;
  readonly kinds: FrameKinds<F>;
  /** For each node with nodes inside, by its index: those nodes, in declared order. */
  readonly inner: ReadonlyMap<number, readonly PlanNode<F>[]>;
  /** True if some stage reads events, so that answers should arrive unencoded. */
  readonly needsEvents: boolean;
}

export interface CompileOptions<F extends Frame> {
  readonly insertions?: readonly Insertion<F>[];
  /**
   * False makes every node a TransformStream of its own; the output frames are the same. Default
   * true.
   */
  readonly fuse?: boolean;
}

export type Compiled<F extends Frame> =
  | { readonly plan: Plan<F>; readonly faults: readonly [] }
  | { readonly plan: undefined; readonly faults: readonly GraphFault[] };

/** Sorts the nodes topologically (Kahn's algorithm, ties in declared order). */
function inOrder<F extends Frame>(graph: Graph<F>): GraphNode<F>[] {
  const waiting = [...graph.nodes];
  const ordered: GraphNode<F>[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(
      (node) =>
        !graph.edges.some(
          (edge) => edge.to === node.name && waiting.some((other) => other.name === edge.from),
        ),
    );
    ordered.push(...waiting.splice(Math.max(ready, 0), 1));
  }
  return ordered;
}

/**
 * Groups neighbouring handler stages into one segment; a stage with its own stream gets its own.
 */
function toSegments<F extends Frame>(
  path: readonly PlanNode<F>[],
  kinds: readonly F['kind'][],
  fuse: boolean,
): Segment<F>[] {
  const segments: Segment<F>[] = [];
  let group: PlanNode<F>[] = [];
  const close = (): void => {
    if (group.length > 0) segments.push(toFused(group, kinds));
    group = [];
  };
  for (const node of path) {
    const { behaviour } = node.stage;
    if (isTransform(behaviour)) {
      close();
      segments.push(Object.freeze({ form: 'stream', node, by: behaviour }));
    } else {
      group.push(node);
      if (!fuse) close();
    }
  }
  close();
  return segments;
}

/** Returns true if the stage may replace frames of an answer. */
function replaces<F extends Frame>({ stage: { behaviour } }: GraphNode<F>, kinds: FrameKinds<F>) {
  if (isTransform(behaviour)) return true;
  const { on } = behaviour;
  return on !== undefined && kinds.response.some((kind) => on[kind] !== undefined);
}

/**
 * Returns true if `node` reads events, and on the way of this answer another stage may have replaced
 * them since they were cut.
 */
function readsReplaced<F extends Frame>(
  path: readonly GraphNode<F>[],
  node: GraphNode<F>,
  kinds: FrameKinds<F>,
): boolean {
  if (node.stage.needs !== 'events' || !path.includes(node)) return false;
  const earlier = path.slice(0, path.indexOf(node));
  const last = earlier.findLastIndex(({ stage }) => stage.needs === 'events');
  return earlier.slice(Math.max(last, 0)).some((each) => replaces(each, kinds));
}

/**
 * Numbers the nodes in the order in which traces list them: a node inside another follows it, and
 * the splitter, if a stage reads events, follows the last node whose answer it cuts. It is repeated
 * before a stage that would otherwise get what another stage has made, uncut.
 */
function toPlanNodes<F extends Frame>(graph: Graph<F>, ordered: readonly GraphNode<F>[]) {
  const { kinds, splitter } = graph;
  const all: PlanNode<F>[] = [];
  const inner = new Map<number, readonly PlanNode<F>[]>();
  const byNode = new Map<GraphNode<F>, PlanNode<F>>();
  const add = (node: GraphNode<F> | InnerNode<F>, needsEvents = false): PlanNode<F> => {
    const planNode = toPlanNode(node, all.length, needsEvents, kinds);
    all.push(planNode);
    return planNode;
  };
  const cut = ordered.filter(
    ({ name, stage }) =>
      stage.answers === true &&
      responsePathOf(graph, name).some((later) => later.stage.needs === 'events'),
  );
  const paths = cut.map(({ name }) => responsePathOf(graph, name));
  let splitting: PlanNode<F> | undefined;
  const again = new Map<PlanNode<F>, PlanNode<F>>();
  for (const node of ordered) {
    const cutter =
      splitter !== undefined && paths.some((path) => readsReplaced(path, node, kinds))
        ? add({ name: `${splitter.name}:${node.name}`, stage: splitter })
        : undefined;
    const planNode = add(node, cut.includes(node));
    byNode.set(node, planNode);
    if (cutter !== undefined) again.set(planNode, cutter);
    const inside = (graph.inner ?? []).filter(({ within }) => within === node.name);
    if (inside.length > 0)
      inner.set(
        planNode.index,
        inside.map((each) => add(each)),
      );
    if (splitter !== undefined && node === cut.at(-1))
      splitting = add({ name: splitter.name, stage: splitter });
  }
  return { all, inner, planned: (node: GraphNode<F>) => byNode.get(node)!, splitting, again };
}

/** Checks and compiles a graph. All faults are reported at once; `plan` is then undefined. */
export function compile<F extends Frame>(
  declared: Graph<F>,
  options: CompileOptions<F> = {},
): Compiled<F> {
  const { graph, faults: misplaced } = insert(declared, options.insertions ?? []);
  const faults = [...misplaced, ...validate(graph)];
  if (faults.length > 0) return { plan: undefined, faults };

  const { kinds } = graph;
  const ordered = inOrder(graph);
  const { all, inner, planned, splitting, again } = toPlanNodes(graph, ordered);

  const answerPaths = new Map<number, readonly Segment<F>[]>();
  for (const node of ordered.map(planned)) {
    if (node.stage.answers !== true) continue;
    const path = responsePathOf(graph, node.name)
      .map(planned)
      .flatMap((each) => [...(again.has(each) ? [again.get(each)!] : []), each]);
    if (node.needsEvents && splitting !== undefined) path.unshift(splitting);
    // A node's own answer first passes the node's response handlers.
    if (kinds.response.some((kind) => node.steps.has(kind))) path.unshift(node);
    answerPaths.set(node.index, toSegments(path, kinds.response, options.fuse ?? true));
  }
  const plan: Plan<F> = Object.freeze({
    nodes: Object.freeze(all),
    requestPath: Object.freeze(requestPathOf(graph).map(planned)),
    answerPaths,
    inner,
    kinds,
    needsEvents: all.some((node) => node.needsEvents),
  });
  return { plan, faults: [] };
}
