/** A certificate as one HTML page: no script, nothing loaded, readable in light and dark. */
import type { Certificate } from '../../server/certify/certify.ts';
import { visible } from '../../server/log/visible.ts';
import { TITLES, figuresOf, notesOf, shownLine } from './view.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign]!);

const STYLE = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid #8886; vertical-align: top; }
.held { color: light-dark(#176b2c, #7ee08f); }
.missed { color: light-dark(#a11, #ff9a9a); font-weight: 600; }
code { overflow-wrap: anywhere; }`;

/** Returns the page; `what` names the judged sessions, `made` the date and version. */
export function certificateHtml(certificate: Certificate, what: string, made: string): string {
  const { holds, checks, costs, broken } = certificate;
  const figures = figuresOf(certificate);
  const row = (cells: readonly string[], tag = 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const title = holds ? 'The certificate holds' : 'The certificate does not hold';
  const list = checks.map(({ name, holds: isKept }) =>
    row([
      `<span class="${isKept ? 'held">✓ held' : 'missed">✗ missed'}</span>`,
      TITLES[name],
      escaped(figures[name]),
    ]),
  );
  const groups = costs.map(({ client, from, to, sessions, share, worst }) =>
    row([
      escaped(client),
      from === null ? 'any' : to === null ? `${from}+` : `${from}–${to}`,
      String(sessions),
      share.median.toFixed(3),
      `${share.from.toFixed(3)} to ${share.to.toFixed(3)}`,
      worst.toFixed(3),
    ]),
  );
  const places = broken.map(({ check, session, turn, block, line }) =>
    row([
      TITLES[check],
      escaped(visible(session)),
      String(turn),
      String(block),
      `<code>${escaped(shownLine(line))}</code>`,
    ]),
  );
  const table = (head: readonly string[], rows: readonly string[]): string =>
    rows.length === 0 ? '' : `<table>${row(head, 'th')}${rows.join('')}</table>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1 class="${holds ? 'held' : 'missed'}">${title}</h1>
<p>${escaped(what)}</p>
${table(['', 'Promise', 'Figures'], list)}
${table(['Sessions of', 'Requests', 'Sessions', 'Cost, median', '95 % of the median', 'Worst'], groups)}
${table(['Promise', 'Session', 'Turn', 'Block', 'Line'], places)}
<ul>${notesOf(certificate)
    .map((note) => `<li>${escaped(note)}</li>`)
    .join('')}</ul>
<p>${escaped(made)}</p>
</body></html>
`;
}
