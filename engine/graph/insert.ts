/** Inserts plugins' stages into a graph; the given graph is not changed. */
import type { Frame } from '../frame.ts';
import type { Graph, GraphEdge, GraphFault, GraphNode, InnerNode, Insertion } from './declare.ts';

function byOrder<F extends Frame>(a: Insertion<F>, b: Insertion<F>): number {
  const order = (a.order ?? 0) - (b.order ?? 0);
  if (order !== 0) return order;
  return a.plugin < b.plugin ? -1 : a.plugin > b.plugin ? 1 : 0;
}

/** Redirects all edges into `target` to `node`, and connects `node` to `target`. */
function before(edges: readonly GraphEdge[], node: string, target: string): GraphEdge[] {
  const moved = edges.map((edge) => (edge.to === target ? { ...edge, to: node } : edge));
  return [...moved, { from: node, to: target }];
}

/**
 * Moves all edges out of `target` to start at `node`; if they differ by frame, only the request's
 * edge moves.
 */
function after(edges: readonly GraphEdge[], node: string, target: string): GraphEdge[] {
  const parts = edges.some((edge) => edge.from === target && edge.on !== undefined);
  const moves = (edge: GraphEdge) => edge.from === target && (!parts || edge.on !== 'response');
  const moved = edges.map((edge) => (moves(edge) ? { from: node, to: edge.to } : edge));
  const entry: GraphEdge = parts
    ? { from: target, on: 'request', to: node }
    : { from: target, to: node };
  return [...moved, entry];
}

/**
 * Returns the graph with all insertions made. Insertions at the same place are sorted by `order`,
 * then by plugin name, in the direction of travel. An insertion may name the node of another one.
 * Insertions that name an unknown node, or are called like one, are left out and reported.
 */
export function insert<F extends Frame>(
  graph: Graph<F>,
  insertions: readonly Insertion<F>[],
): { graph: Graph<F>; faults: GraphFault[] } {
  const faults: GraphFault[] = [];
  const known = new Set(graph.nodes.map((node) => node.name));
  const sorted = insertions.toSorted(byOrder);
  let { entry } = graph;
  let edges: readonly GraphEdge[] = graph.edges;
  const nodes = [...graph.nodes];
  const inner: InnerNode<F>[] = [...(graph.inner ?? [])];

  const place = (insertion: Insertion<F>): void => {
    const { plugin, before: next, after: last, within } = insertion;
    const { name } = insertion.stage;
    const target = targetOf(insertion);
    const refuse = (fault: GraphFault['fault'], what: string): void => {
      faults.push({ fault, message: `Plugin '${plugin}' ${what}`, insertion: { plugin, target } });
    };
    if ([next, last, within].filter((each) => each !== undefined).length !== 1)
      return refuse(
        'bad_insertion',
        `must say where '${name}' goes: either before or after a node`,
      );
    const other = [...nodes, ...inner].find((each) => each.name === name);
    if (other !== undefined) {
      const whose = other.plugin === undefined ? 'the graph has one' : `so does '${other.plugin}'`;
      return refuse('duplicate_node', `inserts a node '${name}', and ${whose}`);
    }
    if (target === undefined || !known.has(target))
      return refuse(
        'unknown_node',
        `inserts '${name}' beside '${target}', which is not a node of the graph`,
      );
    const node = toNode(insertion);
    if (within !== undefined) return void inner.push({ ...node, within });
    nodes.push(node);
    edges = (next === undefined ? after : before)(edges, name, target);
    if (next !== undefined && entry === target) entry = name;
  };

  const placeAll = (ready: readonly Insertion<F>[]): void => {
    ready.filter((each) => each.after === undefined).forEach(place);
    // Each one goes directly after its target, so the last to be placed comes first.
    ready
      .filter((each) => each.after !== undefined)
      .toReversed()
      .forEach(place);
    for (const { name } of nodes) known.add(name);
  };

  // Insertions that name another's node wait until that node is placed.
  for (let remaining = sorted; remaining.length > 0;) {
    const names = new Set(remaining.map(({ stage }) => stage.name));
    const ready = remaining.filter((each) => {
      const target = targetOf(each) ?? '';
      return known.has(target) || !names.has(target);
    });
    const placed = ready.length > 0 ? ready : remaining;
    placeAll(placed);
    remaining = remaining.filter((each) => !placed.includes(each));
  }
  return { graph: { ...graph, entry, nodes, edges, inner }, faults };
}

function targetOf<F extends Frame>({ before: next, after: last, within }: Insertion<F>) {
  return next ?? last ?? within;
}

function toNode<F extends Frame>({ stage, plugin, about }: Insertion<F>): GraphNode<F> {
  return { name: stage.name, stage, plugin, ...(about !== undefined && { about }) };
}
