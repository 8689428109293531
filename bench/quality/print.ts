/** The quality report as tables for a terminal. */
import Table from 'cli-table3';
import { READ_PRICES } from '../../stages/prompt-cache/simulated.ts';
import type { QualityReport } from './report.ts';

type Cells = readonly (string | number)[];
type Section = (report: QualityReport) => string;

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
const percent2 = (share: number): string => `${(share * 100).toFixed(2)}%`;

/** Returns all non-empty parts of a report, one below the other. */
export function printQuality(report: QualityReport): string {
  const note = report.corpus
    ? []
    : ['No corpus found (SVC_CORPUS): only what installed packages can show.'];
  return [...note, ...SECTIONS.map((section) => section(report))]
    .filter((part) => part !== '')
    .join('\n');
}

const SECTIONS: readonly Section[] = [
  classes,
  encodings,
  logs,
  narrative,
  sources,
  readPrices,
  marked,
  forgetting,
  keptLines,
  recipes,
  firstSight,
  speed,
];

function table(title: string, head: readonly string[], rows: readonly Cells[]): string {
  if (rows.length === 0) return '';
  const made = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  made.push(...rows.map((row) => [...row]));
  return `${title}\n${made.toString()}`;
}

function classes(report: QualityReport): string {
  const rows = report.classes.map((row) => [row.kind, row.samples, percent(row.accuracy)]);
  return table('Classifier', ['class', 'samples', 'right'], rows);
}

function encodings(report: QualityReport): string {
  return table(
    'Encodings (lost = texts that miss something they must keep)',
    ['what', 'texts', 'unchanged', 'tokens saved', 'lost'],
    report.encodings.map((row) => [
      row.name,
      row.texts,
      row.unchanged,
      percent(row.saved),
      row.broken,
    ]),
  );
}

function logs(report: QualityReport): string {
  return table(
    'CI failure logs',
    ['budget', 'logs', 'critical signals found', 'recall', '95% interval', 'all signals', 'saved'],
    report.logs.map((row) => [
      row.budgetTokens,
      row.logs,
      `${row.criticalFound} of ${row.critical}`,
      percent(row.recall),
      row.interval.map(percent).join('–'),
      percent(row.recallOfAll),
      percent(row.saved),
    ]),
  );
}

function narrative(report: QualityReport): string {
  return table(
    'Narrative with a question',
    ['mode', 'texts', 'saved', 'answer kept', 'answer to a later question kept'],
    report.narrative.map((row) => [
      row.mode,
      row.cases,
      percent(row.saved),
      percent(row.sameQuery),
      `${percent(row.laterQuery)} of ${row.laterCases}`,
    ]),
  );
}

function sources(report: QualityReport): string {
  return table(
    'Transcripts that reach the threshold: input cost in a simulated prompt cache (5 minutes, at most 4 breakpoints), 1 = without us; with pauses: the cache has forgotten before every tenth turn',
    [
      'mode',
      'source',
      'transcripts',
      'with system prompt',
      'tokens saved',
      'net cost, median',
      'worst',
      'with pauses, median',
      'worst',
      'unstable turns',
    ],
    report.sources.map((row) => [
      row.mode,
      row.source,
      row.transcripts,
      row.withSystem,
      percent(row.saved),
      row.medianNet.toFixed(3),
      row.worstNet.toFixed(3),
      row.medianNetWithPauses.toFixed(3),
      row.worstNetWithPauses.toFixed(3),
      row.unstableTurns,
    ]),
  );
}

function readPrices(report: QualityReport): string {
  return table(
    'The same without pauses, where cached input costs less of the price of plain input: median and worst net cost',
    ['mode', 'source', ...READ_PRICES.map((price) => `reads at ${price}`)],
    report.sources.map(({ mode, source, medianNetByReadPrice, worstNetByReadPrice }) => [
      mode,
      source,
      ...medianNetByReadPrice.map(
        (cost, at) => `${cost.toFixed(3)}, ${worstNetByReadPrice[at]!.toFixed(3)}`,
      ),
    ]),
  );
}

function marked(report: QualityReport): string {
  return table(
    'Clients that ask for no caching: input cost with the markers that svc sets, 1 = without any; compression off',
    [
      'source',
      'transcripts',
      'median',
      'worst',
      'with pauses, median',
      'worst',
      'only long pauses, worst',
      'first request, worst',
    ],
    report.marked.map((row) => [
      row.source,
      row.transcripts,
      row.median.toFixed(3),
      row.worst.toFixed(3),
      row.medianWithPauses.toFixed(3),
      row.worstWithPauses.toFixed(3),
      row.slow.toFixed(3),
      row.single.toFixed(3),
    ]),
  );
}

function forgetting({ forgetting: figures }: QualityReport): string {
  if (figures === undefined) return '';
  const { transcripts, forgotten, askedAgain, median, worst, medianByReadPrice } = figures;
  const byPrice = READ_PRICES.map(
    (price, at) => `${medianByReadPrice[at]!.toFixed(3)} at ${price}`,
  );
  return `Old results left out at cold moments, before every tenth turn: input cost ${median.toFixed(3)} of that with compression alone in the median of the ${transcripts} transcripts concerned, worst ${worst.toFixed(3)} (by the price of reads: ${byPrice.join(', ')}); ${askedAgain} of ${forgotten} were asked for again`;
}

function keptLines({ keptLines: figures }: QualityReport): string {
  if (figures === undefined) return '';
  return `Lines of changed blocks in all transcripts: ${figures.kept}, of which ${figures.strange} neither stand in the input nor decode to it`;
}

function recipes({ recipes: figures }: QualityReport): string {
  if (figures === undefined) return '';
  const { requests, rounds, withoutP50Ms, addedP50Ms, addedP95Ms } = figures.time;
  const rows = figures.savings.map((row) => [
    row.source,
    row.transcripts,
    row.tokens,
    percent2(row.savedWithout),
    percent2(row.savedWith),
  ]);
  const head = ['source', 'transcripts', 'tokens', 'built-in rules alone', 'with recipes'];
  return [
    table('Bundled recipes: tokens saved of whole transcripts, hybrid', head, rows),
    `They add ${addedP50Ms.toFixed(2)} ms p50, ${addedP95Ms.toFixed(2)} ms p95 to the ${withoutP50Ms.toFixed(1)} ms of 10,000 tokens not seen before: ${requests} requests, ${rounds} rounds in turn`,
  ].join('\n');
}

function firstSight(report: QualityReport): string {
  const rows = report.firstSight.map((row) => [
    row.extension,
    row.firstMs.toFixed(0),
    row.unpreparedMs.toFixed(0),
    row.nextMs.toFixed(0),
  ]);
  const title = 'Code at first sight in the compressing thread, ms per 10,000 tokens';
  return table(title, ['language', 'first text', 'first, thread not prepared', 'others'], rows);
}

function speed({ speed: figures }: QualityReport): string {
  const { p50Ms, p95Ms, texts, longLineMs } = figures;
  return `Speed: ${p50Ms.toFixed(1)} ms p50, ${p95Ms.toFixed(1)} ms p95 per 10,000 tokens over ${texts} texts; a line of 1 MB ${longLineMs.toFixed(0)} ms`;
}
