/** What a plan does, as data for people: the nodes on each way, and which of them run as one. */
import type { Frame } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Plan } from './compile.ts';
import type { PlanNode, Segment } from './segment.ts';

export interface StopOutline {
  readonly node: string;
  /** True if it may answer in place of the nodes behind it. */
  readonly answers: boolean;
  /** True for a stage with a stream of its own. */
  readonly isStream: boolean;
}

export interface SegmentOutline {
  /** `fused`: its nodes run as one; `stream`: one node, as a web stream. */
  readonly form: 'fused' | 'stream';
  readonly nodes: readonly string[];
}

export interface PlanOutline {
  /** In the order in which a request passes them. */
  readonly request: readonly StopOutline[];
  /** For each node that may answer: what its answer passes, in order. */
  readonly answers: readonly {
    readonly from: string;
    readonly segments: readonly SegmentOutline[];
  }[];
}

export function describePlan<F extends Frame>(plan: Plan<F>): PlanOutline {
  const request = plan.requestPath.map(({ node }) => ({
    node: node.name,
    answers: node.stage.answers === true,
    isStream: isTransform(node.stage.behaviour),
  }));
  const answers = plan.requestPath.flatMap(({ node }) => {
    const segments = plan.answerPaths.get(node.index);
    return segments === undefined ? [] : [{ from: node.name, segments: segments.map(toOutline) }];
  });
  return { request, answers };
}

function toOutline<F extends Frame>(segment: Segment<F>): SegmentOutline {
  const nodes: readonly PlanNode<F>[] = segment.form === 'fused' ? segment.nodes : [segment.node];
  return { form: segment.form, nodes: nodes.map(({ name }) => name) };
}
