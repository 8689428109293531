/**
 * A graph as plain data: named nodes and the edges between them. The frame selects the edge: a
 * request frame follows `on: 'request'`, an answer made by the node follows `on: 'response'`, and
 * an edge without `on` serves both.
 */
import type { Frame, FrameKinds } from '../frame.ts';
import type { Stage } from '../stage.ts';

export interface GraphNode<F extends Frame> {
  readonly name: string;
  readonly stage: Stage<F>;
  /** The plugin that inserted it; absent for a node of the declared graph. */
  readonly plugin?: string;
  /** What it provides, as short phrases for the displayed graph. */
  readonly about?: readonly string[];
}

/** A node inside another: no frame passes it; the stage around it reports its timing. */
export interface InnerNode<F extends Frame> extends GraphNode<F> {
  readonly within: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly on?: 'request' | 'response';
  readonly to: string;
}

export interface Graph<F extends Frame> {
  readonly kinds: FrameKinds<F>;
  /** The node that receives the first frame. */
  readonly entry: string;
  readonly nodes: readonly GraphNode<F>[];
  readonly edges: readonly GraphEdge[];
  readonly inner?: readonly InnerNode<F>[];
  /**
   * Added directly after every node whose answer reaches a stage that `needs` events, and only
   * then; it cuts chunks at event boundaries.
   */
  readonly splitter?: Stage<F>;
}

/** A stage that a plugin puts into a graph, named after the stage. */
export interface Insertion<F extends Frame> {
  readonly stage: Stage<F>;
  /** The node it is placed before, after or within: exactly one of the three. */
  readonly before?: string;
  readonly after?: string;
  readonly within?: string;
  /** Among several at the same place, lower comes first; default 0. */
  readonly order?: number;
  /** The inserting plugin: second sort key, and named in every fault. */
  readonly plugin: string;
  /** As in `GraphNode`. */
  readonly about?: readonly string[];
}

/** One fault of a graph. */
export interface GraphFault {
  readonly fault:
    | 'unknown_node'
    | 'duplicate_node'
    | 'duplicate_edge'
    | 'cycle'
    | 'unreachable'
    | 'never_answers'
    | 'kind_mismatch'
    | 'bad_insertion'
    | 'no_splitter';
  readonly message: string;
  /** The plugin of the insertion, and the node it names. */
  readonly insertion?: { readonly plugin: string; readonly target: string | undefined };
}

/** Creates a linear graph: each edge serves requests and answers. */
export function chain<F extends Frame>(
  kinds: FrameKinds<F>,
  stages: readonly Stage<F>[],
  splitter?: Stage<F>,
): Graph<F> {
  const nodes = stages.map((stage) => ({ name: stage.name, stage }));
  const edges = nodes.slice(1).map((node, index) => ({ from: nodes[index]!.name, to: node.name }));
  const graph = { kinds, entry: nodes[0]?.name ?? '', nodes, edges };
  return splitter === undefined ? graph : { ...graph, splitter };
}
