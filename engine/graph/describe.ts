/** A plan as data to display: the nodes on each path, and which of them run as one. */
import type { Frame } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Plan } from './compile.ts';
import type { PlanNode, Segment } from './segment.ts';

export type PlanOutline = ReturnType<typeof describePlan>;
/** A node to display. */
export type NodeOutline = ReturnType<typeof toNode>;

export function describePlan<F extends Frame>(plan: Plan<F>) {
  /** In the order a request passes them. */
  const request = plan.requestPath.map((node) => ({
    ...toNode(node),
    /** True if it may answer in place of the nodes after it. */
    answers: node.stage.answers === true,
    /** True for a stage with a stream of its own. */
    isStream: isTransform(node.stage.behaviour),
    inner: (plan.inner.get(node.index) ?? []).map(toNode),
  }));
  /** For each node that may answer: the segments its answer passes, in order. */
  const answers = plan.requestPath.flatMap((node) => {
    const segments = plan.answerPaths.get(node.index);
    return segments === undefined ? [] : [{ from: node.name, segments: segments.map(toOutline) }];
  });
  return { request, answers };
}

function toNode<F extends Frame>({ name, plugin, about }: PlanNode<F>) {
  return {
    node: name,
    /** The plugin that inserted it; null for a built-in stage. */
    plugin: plugin ?? null,
    about: about ?? [],
  };
}

/** `fused`: its nodes run as one; `stream`: one node, as a web stream. */
function toOutline<F extends Frame>(segment: Segment<F>) {
  const nodes: readonly PlanNode<F>[] = segment.form === 'fused' ? segment.nodes : [segment.node];
  return { form: segment.form, nodes: nodes.map(toNode) };
}
