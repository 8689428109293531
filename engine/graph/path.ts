/** The paths through a graph: of a request, and of an answer from its node. */
import type { Frame } from '../frame.ts';
import type { Graph, GraphNode } from './declare.ts';

/** Returns the node after `from` for this half of a run, or undefined at the end. */
function next<F extends Frame>(
  graph: Graph<F>,
  from: string,
  half: 'request' | 'response',
): GraphNode<F> | undefined {
  const edge = graph.edges.find(
    (each) => each.from === from && (each.on === undefined || each.on === half),
  );
  return edge && graph.nodes.find((node) => node.name === edge.to);
}

function follow<F extends Frame>(
  graph: Graph<F>,
  from: GraphNode<F> | undefined,
  half: 'request' | 'response',
): GraphNode<F>[] {
  const path: GraphNode<F>[] = [];
  for (let node = from; node !== undefined && !path.includes(node);) {
    path.push(node);
    node = next(graph, node.name, half);
  }
  return path;
}

/** Returns the nodes that a request frame passes, in order, the entry first. */
export function requestPathOf<F extends Frame>(graph: Graph<F>): GraphNode<F>[] {
  const entry = graph.nodes.find((node) => node.name === graph.entry);
  return follow(graph, entry, 'request');
}

/** Returns the nodes that an answer made by `name` passes, in order, without that node itself. */
export function responsePathOf<F extends Frame>(graph: Graph<F>, name: string): GraphNode<F>[] {
  return follow(graph, next(graph, name, 'response'), 'response');
}
