/**
 * A month as one HTML page to send to others: no script, nothing loaded or linked from elsewhere,
 * and every name in it is plain text.
 */
import { costWithout, knownCost, knownNetSaving, toUsd } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import { dollars, figure, percent } from '../screen/output.ts';
import type { MonthReport, NamedTotals } from './month.ts';

const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --quiet: #5b636b; --line: #d9dee3; --bar: #2f6fd0; --ground: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --quiet: #9aa3ac; --line: #343b42; --bar: #6ea2ee; --ground: #15181b } }
@media print { :root { --ink: #000; --quiet: #444; --line: #bbb; --bar: #2f6fd0; --ground: #fff } section { break-inside: avoid } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 3rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.2rem 0 .5rem }
.quiet { color: var(--quiet) } p { margin: .3rem 0 }
.head { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.6rem, 1fr)); gap: .75rem; margin: 1.4rem 0 0; padding: 0 }
.head div { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .85rem }
.head dt { color: var(--quiet); font-size: .85rem } .head dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--quiet); font-weight: 500 } th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; overflow-wrap: anywhere; min-width: 8.5rem }
tfoot td { border-bottom: 0; font-weight: 600 }
svg { display: block; width: 100%; min-width: 34rem; height: auto } svg text { fill: var(--quiet); font: 11px system-ui, sans-serif }
svg rect { fill: var(--bar) } svg line { stroke: var(--line) }
`;

/** Columns of every table, after the name. */
const COLUMNS: readonly (readonly [head: string, value: (totals: Totals) => string])[] = [
  ['Requests', (t) => figure(t.requests)],
  ['Failed', (t) => figure(t.errors)],
  ['Input tokens', (t) => figure(t.inputTokens)],
  ['Saved tokens', (t) => figure(t.savedTokens)],
  ['Output tokens', (t) => figure(t.outputTokens)],
  ['Cost', (t) => money(knownCost(t))],
  ['Without svc', (t) => money(costWithout(knownCost(t), knownNetSaving(t)))],
  ['Net saving', (t) => money(knownNetSaving(t))],
];

/** Returns the whole document. */
export function monthHtml(report: MonthReport, version: string): string {
  const { month, by, totals, byModel, byName, byDay } = report;
  const title = `svc, ${monthName(month)}`;
  const cost = knownCost(totals);
  const saved = knownNetSaving(totals);
  const share = totals.inputTokens === 0 ? null : (100 * totals.savedTokens) / totals.inputTokens;
  const heads: readonly (readonly [string, string])[] = [
    ['Cost', money(cost)],
    ['Without svc', money(costWithout(cost, saved))],
    ['Net saving', money(saved)],
    ['Tokens saved', `${figure(totals.savedTokens)} (${percent(share)})`],
    ['Requests', figure(totals.requests)],
    ['Failed', figure(totals.errors)],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
<p class="quiet">${spanWords(report)} Made ${moment(report.madeMs)} by svc ${escape(version)}.</p>
<dl class="head">
${heads.map(([name, value]) => `<div><dt>${name}</dt><dd>${escape(value)}</dd></div>`).join('\n')}
</dl>
${unpricedNote(totals)}
${totals.requests === 0 ? '' : costChart(report)}
${by === undefined ? '' : table(`By ${by}`, capital(by), byName, totals)}
${table('By model', 'Model', byModel, totals)}
${table(
  'By day',
  'Day (UTC)',
  byDay.map((day) => ({ name: day.date, totals: day.totals })),
  totals,
)}
</main>
</body>
</html>
`;
}

function spanWords({ isOver, untilMs }: MonthReport): string {
  return isOver ? 'The whole month, UTC.' : `The month is not over: up to ${moment(untilMs)}.`;
}

function unpricedNote({ unpriced }: Totals): string {
  if (unpriced === 0) return '';
  const are =
    unpriced === 1
      ? 'request of a model without a known price is'
      : 'requests of models without a known price are';
  return `<p>${figure(unpriced)} ${are} not included in these amounts.</p>`;
}

function table(
  heading: string,
  first: string,
  groups: readonly NamedTotals[],
  sum: Totals,
): string {
  if (groups.length === 0) return '';
  const cells = (totals: Totals) =>
    COLUMNS.map(([, value]) => `<td>${escape(value(totals))}</td>`).join('');
  const rows = groups.map(
    ({ name, totals }) => `<tr><td>${escape(name ?? 'unknown')}</td>${cells(totals)}</tr>`,
  );
  return `<section>
<h2>${escape(heading)}</h2>
<div class="wide"><table>
<thead><tr>${[first, ...COLUMNS.map(([head]) => head)].map((head) => `<th scope="col">${escape(head)}</th>`).join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
<tfoot><tr><td>Total</td>${cells(sum)}</tr></tfoot>
</table></div>
</section>`;
}

/** Draws one bar per day of the month. */
function costChart({ byDay }: MonthReport): string {
  const costs = byDay.map(({ totals }) => Math.max(0, knownCost(totals) ?? 0));
  const max = Math.max(...costs);
  if (max === 0) return '';
  const [width, height, left, bottom] = [900, 170, 8, 20];
  const step = (width - left) / costs.length;
  const bars = costs.map((cost, at) => {
    const tall = (cost / max) * (height - bottom - 22);
    const day = byDay[at]!.date;
    const x = left + at * step;
    const bar = `<rect x="${x.toFixed(1)}" y="${(height - bottom - tall).toFixed(1)}" width="${(step * 0.72).toFixed(1)}" height="${tall.toFixed(1)}"><title>${day}: ${escape(money(cost))}</title></rect>`;
    const isNamed = at === 0 || (at + 1) % 5 === 0;
    return isNamed
      ? `${bar}<text x="${x.toFixed(1)}" y="${height - 5}">${+day.slice(-2)}</text>`
      : bar;
  });
  return `<section>
<h2>Cost by day</h2>
<div class="wide"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Cost by day; the most expensive was ${escape(money(max))}">
<text x="${left}" y="12">${escape(money(max))}</text>
<line x1="0" x2="${width}" y1="${height - bottom}" y2="${height - bottom}"/>
${bars.join('\n')}
</svg></div>
</section>`;
}

function money(nano: number | null): string {
  return dollars(toUsd(nano));
}

function monthName(month: string): string {
  const [year = '', number = ''] = month.split('-');
  return `${MONTHS[Number(number) - 1]} ${year}`;
}

/** Formats `2026-11-26 20:55 UTC`. */
function moment(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text, also for attributes; removes control characters and bidirectional marks. */
function escape(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '')
    .replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign]!);
}
