/** The compiled graph with the plugins that brought its stages, and its drawings as text and Mermaid. */
import type { PlanOutline } from '../../engine/index.ts';
import type { Colors } from '../screen/output.ts';

/** A segment of an answer's way, or one node of it as a web stream. */
export interface DrawnSegment {
  readonly form: 'fused' | 'stream';
  readonly nodes: readonly DrawnNode[];
}

export interface DrawnNode {
  readonly name: string;
  /** Null for a built-in stage. */
  readonly plugin: string | null;
}

export interface DrawnStop extends DrawnNode {
  readonly answers: boolean;
  readonly isStream: boolean;
}

export interface Drawing {
  readonly request: readonly DrawnStop[];
  readonly answers: readonly {
    readonly from: string;
    readonly segments: readonly DrawnSegment[];
  }[];
}

/** `plugins` maps the name of a stage to the plugin that brought it. */
export function toDrawing(outline: PlanOutline, plugins: ReadonlyMap<string, string>): Drawing {
  const drawn = (name: string): DrawnNode => ({ name, plugin: plugins.get(name) ?? null });
  return {
    request: outline.request.map(({ node, answers, isStream }) => ({
      ...drawn(node),
      answers,
      isStream,
    })),
    answers: outline.answers.map(({ from, segments }) => ({
      from,
      segments: segments.map(({ form, nodes }) => ({ form, nodes: nodes.map(drawn) })),
    })),
  };
}

/** What is worth knowing of a stop besides its name. */
export function remarksOf({ plugin, answers, isStream }: DrawnStop): readonly string[] {
  return [
    ...(plugin === null ? [] : [`plugin ${plugin}`]),
    ...(answers ? ['may answer'] : []),
    ...(isStream ? ['web stream'] : []),
  ];
}

const FORMS = { fused: 'fused segment', stream: 'web stream' } as const;

export function segmentTitle({ form }: DrawnSegment): string {
  return FORMS[form];
}

export function drawText({ request, answers }: Drawing, colors: Colors): readonly string[] {
  const width = Math.max(...request.map(({ name }) => name.length));
  const stops = request.map((stop) => {
    const remarks = remarksOf(stop).join(', ');
    return remarks === ''
      ? `  ${stop.name}`
      : `  ${stop.name.padEnd(width)}  ${colors.dim(remarks)}`;
  });
  const named = ({ name, plugin }: DrawnNode) =>
    plugin === null ? name : `${name} ${colors.dim(`(plugin ${plugin})`)}`;
  const ways = answers.flatMap((answer) => [
    '',
    colors.bold(`Answer of ${answer.from}`),
    ...(answer.segments.length === 0 ? ['  straight to the client'] : []),
    ...answer.segments.map(
      (segment) =>
        `  ${colors.dim(segmentTitle(segment).padEnd(FORMS.fused.length))}  ${segment.nodes.map(named).join(' → ')}`,
    ),
  ]);
  return [colors.bold('Request'), ...stops, ...ways];
}

/** Names of stages may hold anything. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[&"<>#\n]/g, (sign) => `#${sign.codePointAt(0)};`)}"`;

/** A flowchart of Mermaid: solid lines for requests, dotted ones for answers. */
export function drawMermaid({ request, answers }: Drawing): readonly string[] {
  const lines = ['flowchart TD', '  client([client])'];
  const idOf = new Map(request.map(({ name }, index) => [name, `r${index}`]));
  for (const [index, stop] of request.entries()) {
    const label = [stop.name, ...remarksOf(stop)].join(', ');
    lines.push(`  ${index === 0 ? 'client' : `r${index - 1}`} --> r${index}[${quoted(label)}]`);
  }
  for (const [way, { from, segments }] of answers.entries()) {
    let last = idOf.get(from) ?? 'client';
    for (const [at, segment] of segments.entries()) {
      const ids = segment.nodes.map((_, index) => `a${way}_${at}_${index}`);
      lines.push(
        `  subgraph a${way}_${at}[${quoted(`${segmentTitle(segment)}, answer of ${from}`)}]`,
      );
      for (const [index, { name, plugin }] of segment.nodes.entries()) {
        const label = plugin === null ? name : `${name}, plugin ${plugin}`;
        lines.push(`    ${ids[index]}[${quoted(label)}]`);
      }
      lines.push('  end');
      for (const id of ids) {
        lines.push(`  ${last} -.-> ${id}`);
        last = id;
      }
    }
    lines.push(`  ${last} -.-> client`);
  }
  return lines;
}
