/**
 * A graph as plain data: named nodes and the edges between them. The frame
 * chooses the edge: a request frame follows `on: 'request'`, an answer made by
 * the node follows `on: 'response'`, and an edge without `on` serves both.
 */
import type { Frame, FrameKinds } from '../frame.ts';
import type { Stage } from '../stage.ts';

export interface GraphNode<F extends Frame> {
  readonly name: string;
  readonly stage: Stage<F>;
  /** Who inserted it; absent for a node of the declared graph. */
  readonly plugin?: string;
  /** What it brings, one phrase each, for people who look at the graph. */
  readonly about?: readonly string[];
}

/** A node inside another: no frame passes it, the stage around it says when it is at work. */
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
  /** The node that gets the first frame. */
  readonly entry: string;
  readonly nodes: readonly GraphNode<F>[];
  readonly edges: readonly GraphEdge[];
  readonly inner?: readonly InnerNode<F>[];
  /**
   * Stands right behind every node whose answer reaches a stage that `needs`
   * events, and only then; it cuts chunks at event boundaries.
   */
  readonly splitter?: Stage<F>;
}

/** A stage that a plugin puts into a graph, named after the stage. */
export interface Insertion<F extends Frame> {
  readonly stage: Stage<F>;
  /** The node that it stands before, after or within: exactly one of the three. */
  readonly before?: string;
  readonly after?: string;
  readonly within?: string;
  /** Where several stand at the same place, the lower comes first; default 0. */
  readonly order?: number;
  /** Who inserts it: second key of the order, and named in every fault. */
  readonly plugin: string;
  /** As in `GraphNode`. */
  readonly about?: readonly string[];
}

/** One thing that is wrong with a graph. */
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
  /** The plugin whose insertion it is, and the node that it names. */
  readonly insertion?: { readonly plugin: string; readonly target: string | undefined };
}

/** A graph whose nodes stand in a row: each edge serves requests and answers. */
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
