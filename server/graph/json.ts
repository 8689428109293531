/** The compiled graph as JSON: for `svc graph --json`, the control route and the dashboard. */
import type { NodeOutline, PlanOutline } from '../../engine/index.ts';
import type { Generation } from '../generation/generation.ts';

export type GraphJson = ReturnType<typeof graphJson>;

/** Returns the graph as JSON; `plugins` are the configured modules. */
export function graphJson(outline: PlanOutline, plugins: Generation['plugins']) {
  const { request, answers } = outline;
  return {
    request: request.map(({ answers: mayAnswer, isStream, inner, ...node }) => ({
      ...node,
      answers: mayAnswer,
      web_stream: isStream,
      within: inner,
    })),
    answers: answers.map(({ from, segments }) => ({
      from,
      segments: segments.map(({ form, nodes }) => ({
        form,
        nodes: nodes.map(({ node, plugin }) => ({ node, plugin })),
      })),
    })),
    edges: edgesOf(outline),
    plugins: plugins.map(({ name, module }) => ({ name, module })),
  };
}

interface EdgeJson {
  readonly from: string;
  readonly to: string;
  readonly on: 'request' | 'answer';
}

/** Returns every edge between nodes, once; the client is both source and destination. */
function edgesOf({ request, answers }: PlanOutline): readonly EdgeJson[] {
  const last = request.findLastIndex((node) => node.answers);
  const requestPath = ['client', ...request.slice(0, last + 1).map(nameOf)];
  const edges = new Map<string, EdgeJson>();
  const add = (way: readonly string[], on: EdgeJson['on']): void => {
    for (const [index, to] of way.slice(1).entries()) {
      const from = way[index]!;
      if (from !== to) edges.set(`${on} ${from} ${to}`, { from, to, on });
    }
  };
  add(requestPath, 'request');
  for (const { from, segments } of answers)
    add([from, ...segments.flatMap(({ nodes }) => nodes.map(nameOf)), 'client'], 'answer');
  return [...edges.values()];
}

const nameOf = ({ node }: NodeOutline): string => node;
