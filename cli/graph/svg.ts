/**
 * The compiled graph as SVG: the request's path on the left, one column for each node's response.
 */
import type { PlanOutline } from '../../engine/index.ts';
import { rowsOf, segmentTitle } from './drawing.ts';

/** In pixels. */
const BOX = { width: 190, height: 40 };
const GAP = { x: 60, y: 24 };
const MARGIN = 24;
const HEADING = 34;
/** Space above the boxes of a segment, for its title. */
const TITLE = 20;

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

interface Placed {
  readonly x: number;
  readonly y: number;
}

export function drawSvg(outline: PlanOutline): string {
  const { answers } = outline;
  const parts: string[] = [];
  let bottom = 0;
  const box = ({ x, y }: Placed, name: string, remark: string, isDashed: boolean): void => {
    bottom = Math.max(bottom, y + BOX.height);
    const middle = x + BOX.width / 2;
    const dash = isDashed ? ' stroke-dasharray="5 3"' : '';
    parts.push(
      `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6" class="node"${dash}/>`,
      `<text x="${middle}" y="${y + (remark === '' ? 25 : 18)}">${escaped(name)}</text>`,
    );
    if (remark !== '')
      parts.push(`<text x="${middle}" y="${y + 33}" class="remark">${escaped(remark)}</text>`);
  };
  const arrow = (from: Placed, to: Placed): void => {
    parts.push(
      `<path d="M${from.x} ${from.y} L${to.x} ${to.y}" class="way" marker-end="url(#tip)"/>`,
    );
  };
  const heading = (x: number, text: string): void => {
    parts.push(
      `<text x="${x + BOX.width / 2}" y="${MARGIN + 14}" class="heading">${escaped(text)}</text>`,
    );
  };

  heading(MARGIN, 'Request');
  for (const [index, { label, remarks, isInner, isStream }] of rowsOf(outline).entries()) {
    const at = { x: MARGIN, y: MARGIN + HEADING + index * (BOX.height + GAP.y) };
    box(at, label, remarks.join(', '), isInner || isStream);
    if (index > 0 && !isInner)
      arrow({ x: MARGIN + BOX.width / 2, y: at.y - GAP.y }, { x: MARGIN + BOX.width / 2, y: at.y });
  }
  for (const [way, { from, segments }] of answers.entries()) {
    const x = MARGIN + (way + 1) * (BOX.width + GAP.x);
    const middle = x + BOX.width / 2;
    heading(x, `Answer of ${from}`);
    let y = MARGIN + HEADING;
    for (const [at, segment] of segments.entries()) {
      const title = segmentTitle(segment);
      const height = TITLE + segment.nodes.length * (BOX.height + GAP.y) - GAP.y + 10;
      parts.push(
        `<rect x="${x - 10}" y="${y}" width="${BOX.width + 20}" height="${height}" rx="8" class="segment"/>`,
        `<text x="${middle}" y="${y + 14}" class="remark">${title}</text>`,
      );
      if (at > 0) arrow({ x: middle, y: y - GAP.y }, { x: middle, y });
      for (const [index, node] of segment.nodes.entries()) {
        const top = y + TITLE + index * (BOX.height + GAP.y);
        if (index > 0) arrow({ x: middle, y: top - GAP.y }, { x: middle, y: top });
        const remark = node.plugin === null ? '' : `plugin ${node.plugin}`;
        box({ x, y: top }, node.node, remark, segment.form === 'stream');
      }
      y += height + GAP.y;
      bottom = Math.max(bottom, y - GAP.y);
    }
    if (segments.length === 0) {
      parts.push(`<text x="${middle}" y="${y + 14}" class="remark">straight to the client</text>`);
      bottom = Math.max(bottom, y + 14);
    }
  }
  const width = 2 * MARGIN + BOX.width + answers.length * (BOX.width + GAP.x);
  const height = bottom + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>The graph of svc</title>',
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>',
    '<style>text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1f2328}.heading{font-weight:600}.remark{font-size:11px;fill:#57606a}.node{fill:#fff;stroke:#57606a}.segment{fill:#eef2f6;stroke:#c9d1d9}.way{stroke:#57606a;fill:none}</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}
