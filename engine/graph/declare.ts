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
  /**
   * Stands right behind every node whose answer reaches a stage that `needs`
   * events, and only then; it cuts chunks at event boundaries.
   */
  readonly splitter?: Stage<F>;
}

/** A stage that a plugin puts into a graph, named after the stage. */
export interface Insertion<F extends Frame> {
  readonly stage: Stage<F>;
  /** The node that it stands before, or after: exactly one of the two. */
  readonly before?: string;
  readonly after?: string;
  /** Where several stand at the same place, the lower comes first; default 0. */
  readonly order?: number;
  /** Who inserts it: second key of the order, and named in every fault. */
  readonly plugin: string;
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
