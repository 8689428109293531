/** Draws the compiled graph, as text and Mermaid. */
import type { NodeOutline, PlanOutline } from '../../engine/index.ts';
import type { Colors } from '../screen/output.ts';

type Stop = PlanOutline['request'][number];
type Segment = PlanOutline['answers'][number]['segments'][number];

/** Returns remarks about a node besides its name. */
export function remarksOf(node: NodeOutline & Partial<Stop>): readonly string[] {
  const { plugin, about, answers = false, isStream = false } = node;
  return [
    ...(plugin === null ? [] : [`plugin ${plugin}`]),
    ...about,
    ...(answers ? ['may answer'] : []),
    ...(isStream ? ['web stream'] : []),
  ];
}

const FORMS = { fused: 'fused segment', stream: 'web stream' } as const;

export function segmentTitle({ form }: Segment): string {
  return FORMS[form];
}

/** Marks a nested node, which is drawn below its parent. */
const NESTED_MARK = '▸ ';

/** Returns the nodes of a request's path in drawing order, nested ones below their parent. */
export function rowsOf({ request }: PlanOutline) {
  return request.flatMap((stop) => [
    { label: stop.node, remarks: remarksOf(stop), isInner: false, isStream: stop.isStream },
    ...stop.inner.map((node) => ({
      label: NESTED_MARK + node.node,
      remarks: remarksOf(node),
      isInner: true,
      isStream: false,
    })),
  ]);
}

export function drawText(outline: PlanOutline, colors: Colors): readonly string[] {
  const rows = rowsOf(outline).map(({ label, remarks, isInner }) => ({
    name: isInner ? `  ${label}` : label,
    remarks: remarks.join(', '),
  }));
  const width = Math.max(...rows.map(({ name }) => name.length));
  const stops = rows.map(({ name, remarks }) =>
    remarks === '' ? `  ${name}` : `  ${name.padEnd(width)}  ${colors.dim(remarks)}`,
  );
  const named = ({ node, plugin }: NodeOutline) =>
    plugin === null ? node : `${node} ${colors.dim(`(plugin ${plugin})`)}`;
  const ways = outline.answers.flatMap((answer) => [
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

/** Stage names may contain anything. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[&"<>#\n]/g, (sign) => `#${sign.codePointAt(0)};`)}"`;

/**
 * Returns a Mermaid flowchart: solid lines for requests, dotted ones for responses and for nested
 * nodes.
 */
export function drawMermaid({ request, answers }: PlanOutline): readonly string[] {
  const lines = ['flowchart TD', '  client([client])'];
  const idOf = new Map(request.map(({ node }, index) => [node, `r${index}`]));
  for (const [index, stop] of request.entries()) {
    const label = [stop.node, ...remarksOf(stop)].join(', ');
    lines.push(`  ${index === 0 ? 'client' : `r${index - 1}`} --> r${index}[${quoted(label)}]`);
    for (const [at, inner] of stop.inner.entries())
      lines.push(
        `  r${index} -. within .- r${index}_${at}([${quoted([inner.node, ...remarksOf(inner)].join(', '))}])`,
      );
  }
  for (const [way, { from, segments }] of answers.entries()) {
    let last = idOf.get(from) ?? 'client';
    for (const [at, segment] of segments.entries()) {
      const ids = segment.nodes.map((_, index) => `a${way}_${at}_${index}`);
      lines.push(
        `  subgraph a${way}_${at}[${quoted(`${segmentTitle(segment)}, answer of ${from}`)}]`,
      );
      for (const [index, { node, plugin }] of segment.nodes.entries()) {
        const label = plugin === null ? node : `${node}, plugin ${plugin}`;
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
