/** Every check of a graph, in one pass. */
import type { Frame } from '../frame.ts';
import { isTransform } from '../stage.ts';
import type { Behaviour } from '../stage.ts';
import type { Graph, GraphFault } from './declare.ts';
import { requestPathOf, responsePathOf } from './path.ts';

function kindsOf<F extends Frame>(behaviour: Behaviour<F>): F['kind'][] {
  if (isTransform(behaviour)) return [];
  return [...Object.keys(behaviour.on ?? {}), ...Object.keys(behaviour.watch ?? {})];
}

function nameFaults<F extends Frame>(graph: Graph<F>): GraphFault[] {
  const faults: GraphFault[] = [];
  const names = [...graph.nodes, ...(graph.inner ?? [])].map((node) => node.name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index))) {
    faults.push({ fault: 'duplicate_node', message: `There is more than one node '${name}'` });
  }
  const known = new Set(graph.nodes.map((node) => node.name));
  if (!known.has(graph.entry)) {
    faults.push({ fault: 'unknown_node', message: `The entry '${graph.entry}' is not a node` });
  }
  for (const edge of graph.edges) {
    for (const end of [edge.from, edge.to]) {
      if (known.has(end)) continue;
      const message = `The edge ${edge.from} → ${edge.to} names '${end}', which is not a node`;
      faults.push({ fault: 'unknown_node', message });
    }
  }
  for (const name of known) {
    for (const half of ['request', 'response'] as const) {
      const serving = graph.edges.filter(
        (edge) => edge.from === name && (edge.on === undefined || edge.on === half),
      );
      if (serving.length < 2) continue;
      const targets = serving.map((edge) => edge.to).join(' and ');
      const message = `From '${name}' a ${half} could go to ${targets}`;
      faults.push({ fault: 'duplicate_edge', message });
    }
  }
  return faults;
}

function cycleFaults<F extends Frame>(graph: Graph<F>): GraphFault[] {
  const done = new Set<string>();
  const faults: GraphFault[] = [];
  const visit = (name: string, trail: readonly string[]): void => {
    if (trail.includes(name)) {
      const cycle = [...trail.slice(trail.indexOf(name)), name].join(' → ');
      faults.push({ fault: 'cycle', message: `The graph has a cycle: ${cycle}` });
      return;
    }
    if (done.has(name)) return;
    for (const edge of graph.edges) if (edge.from === name) visit(edge.to, [...trail, name]);
    done.add(name);
  };
  for (const node of graph.nodes) visit(node.name, []);
  return faults;
}

function reachFaults<F extends Frame>(graph: Graph<F>): GraphFault[] {
  const reached = new Set([graph.entry]);
  const open = [graph.entry];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const edge of graph.edges) {
      if (edge.from !== name || reached.has(edge.to)) continue;
      reached.add(edge.to);
      open.push(edge.to);
    }
  }
  return graph.nodes
    .filter((node) => !reached.has(node.name))
    .map((node) => ({
      fault: 'unreachable',
      message: `No path leads from '${graph.entry}' to '${node.name}'`,
    }));
}

function flowFaults<F extends Frame>(graph: Graph<F>): GraphFault[] {
  const faults: GraphFault[] = [];
  const request = requestPathOf(graph);
  const lastAnswering = request.findLastIndex((node) => node.stage.answers === true);
  if (lastAnswering < 0) {
    const path = request.map((node) => node.name).join(' → ');
    faults.push({ fault: 'never_answers', message: `No node on ${path} can answer a request` });
  }
  const seesRequests = new Set(request.slice(0, lastAnswering + 1).map((node) => node.name));
  const seesAnswers = new Set<string>();
  for (const node of graph.nodes) {
    if (node.stage.answers !== true) continue;
    const path = responsePathOf(graph, node.name);
    // A node's own answer passes its handlers first.
    for (const later of [node, ...path]) seesAnswers.add(later.name);
    if (graph.splitter === undefined && path.some((later) => later.stage.needs === 'events')) {
      const message = `A stage after '${node.name}' needs events, and the graph has no splitter`;
      faults.push({ fault: 'no_splitter', message });
    }
  }
  for (const node of graph.nodes) {
    for (const kind of kindsOf(node.stage.behaviour)) {
      const fault = kindFault(graph, node.name, kind, seesRequests, seesAnswers);
      if (fault !== undefined) faults.push({ fault: 'kind_mismatch', message: fault });
    }
  }
  return faults;
}

function kindFault<F extends Frame>(
  graph: Graph<F>,
  name: string,
  kind: F['kind'],
  seesRequests: ReadonlySet<string>,
  seesAnswers: ReadonlySet<string>,
): string | undefined {
  if (graph.kinds.request.includes(kind)) {
    if (seesRequests.has(name)) return undefined;
    return `'${name}' handles '${kind}', but no request frame gets there`;
  }
  if (graph.kinds.response.includes(kind)) {
    if (seesAnswers.has(name)) return undefined;
    return `'${name}' handles '${kind}', but no answer passes there`;
  }
  const known = [...graph.kinds.request, ...graph.kinds.response].join(', ');
  return `'${name}' handles '${kind}', which is not a frame kind (known: ${known})`;
}

/** Returns all faults of a graph; an empty list means that it compiles. */
export function validate<F extends Frame>(graph: Graph<F>): GraphFault[] {
  const faults = [...nameFaults(graph), ...cycleFaults(graph)];
  // Paths are only meaningful once names are unique and there is no cycle.
  if (faults.length > 0) return faults;
  return [...reachFaults(graph), ...flowFaults(graph)];
}
