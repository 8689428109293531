/**
 * The promises of compression as numbers, and whether a run of the quality measures kept them.
 * Reversible savings have no upper bar; lossy compression of prose has one. Pure functions.
 */
import { verdict, type Verdict } from '../bars.ts';
import { ALL_AGENTS } from './breakpoints.ts';
import type { QualityReport } from './report.ts';

type Bar = Pick<Verdict, 'what' | 'unit' | 'direction' | 'bar'>;

const atLeast = (what: string, bar: number, unit: Verdict['unit'] = '%'): Bar => ({
  what,
  unit,
  direction: 'at least',
  bar,
});
const atMost = (what: string, bar: number, unit: Verdict['unit']): Bar => ({
  what,
  unit,
  direction: 'at most',
  bar,
});

/**
 * Minimum saving in percent for each kind of text with a bar. Diffs between unrelated files do not
 * occur in practice.
 */
const SAVED: Readonly<Record<string, number>> = {
  'json, uniform records, vs pretty': 45,
  'json, uniform records, vs compact': 18,
  grep: 35,
  listings: 35,
  'diffs of edits': 20,
  'diffs, commits of this repository': 20,
  'code, aggressive': 8,
  'config, aggressive': 10,
};
/** All rows: these may not lose anything either, however little they save. */
const ENCODINGS = [...Object.keys(SAVED), 'json, all, as found', 'diffs between unrelated files'];
/** Classes with samples. */
const CLASSES = ['code', 'diff', 'grep', 'listing', 'json', 'config', 'log', 'narrative', 'trace'];
/** Rows and classes that need the corpus. */
const NEEDS_CORPUS = /^(?:json|config|log|narrative|trace)/;
const RECALL: Readonly<Record<number, number>> = { 3500: 85, 2000: 80 };
const CODING_AGENTS = 'all coding agents';

/** Returns every bar that the run could measure; a missing measurement fails. */
export function judgeQuality(report: QualityReport): readonly Verdict[] {
  return [
    ...judgeClasses(report),
    ...judgeEncodings(report),
    ...(report.corpus ? judgeCorpus(report) : []),
    ...judgeTimes(report),
  ];
}

/** Returns the expected names, and any others. */
function namesOf(
  expected: readonly string[],
  found: readonly string[],
  corpus: boolean,
): readonly string[] {
  const measurable = expected.filter((name) => corpus || !NEEDS_CORPUS.test(name));
  return [...new Set([...measurable, ...found])];
}

function judgeClasses({ corpus, classes }: QualityReport): readonly Verdict[] {
  const rows = new Map<string, number>(classes.map(({ kind, accuracy }) => [kind, accuracy]));
  return namesOf(CLASSES, [...rows.keys()], corpus).map((kind) =>
    verdict(atLeast(`classifier, ${kind}`, 95), (rows.get(kind) ?? Number.NaN) * 100),
  );
}

function judgeEncodings({ corpus, encodings }: QualityReport): readonly Verdict[] {
  const rows = new Map(encodings.map((row) => [row.name, row]));
  return namesOf(ENCODINGS, [...rows.keys()], corpus).flatMap((name) => {
    const row = rows.get(name);
    const bar = SAVED[name];
    const lost = atMost(`${name}: texts that lost something`, 0, 'texts');
    const saved = (row?.saved ?? Number.NaN) * 100;
    return [
      ...(bar === undefined ? [] : [verdict(atLeast(`${name}: saved`, bar), saved)]),
      verdict(lost, row?.broken ?? Number.NaN),
    ];
  });
}

function judgeCorpus(report: QualityReport): readonly Verdict[] {
  const logs = Object.entries(RECALL).map(([budget, bar]) => {
    const row = report.logs.find(({ budgetTokens }) => budgetTokens === Number(budget));
    const what = `CI logs to ${budget} tokens: critical lines found`;
    return verdict(atLeast(what, bar), (row?.recall ?? Number.NaN) * 100);
  });
  const { keptLines } = report;
  const strange = atMost('lines that were made up', 0, 'lines');
  const added = atMost('recipes: added to 10,000 tokens, p50', 1, 'ms');
  return [
    ...logs,
    ...judgeNarrative(report),
    ...judgeCost(report),
    ...judgeMarked(report),
    ...judgeForgetting(report),
    verdict(strange, keptLines?.strange ?? Number.NaN),
    verdict(added, report.recipes?.time.addedP50Ms ?? Number.NaN),
  ];
}

function judgeNarrative({ narrative }: QualityReport): readonly Verdict[] {
  const hybrid = narrative.find(({ mode }) => mode === 'hybrid');
  const percent = (share: number | undefined): number => (share ?? Number.NaN) * 100;
  return [
    verdict(atLeast('prose, hybrid: saved', 25), percent(hybrid?.saved)),
    verdict(atMost('prose, hybrid: saved', 35, '%'), percent(hybrid?.saved)),
    verdict(atLeast('prose, hybrid: answers kept', 99), percent(hybrid?.sameQuery)),
    verdict(atLeast('prose, hybrid: later answers kept', 85), percent(hybrid?.laterQuery)),
  ];
}

/**
 * Judges costs: the median must be below 0.9, every transcript at most 1. No transcript records its
 * times: pauses are invented, so with pauses only the promise of no higher cost is judged; the
 * table shows their median.
 */
function judgeCost({ sources }: QualityReport): readonly Verdict[] {
  const worst = (values: readonly number[]): number =>
    values.length === 0 ? Number.NaN : Math.max(...values);
  return ['hybrid', 'aggressive'].flatMap((mode) => {
    const rows = sources.filter((row) => row.mode === mode);
    const agents = rows.find(({ source }) => source === CODING_AGENTS);
    const below = atMost(`${mode}: net cost, median of coding agents`, 0.9, 'x');
    const each = atMost(`${mode}: net cost, the worst of all`, 1, 'x');
    return [
      verdict(below, agents?.medianNet ?? Number.NaN),
      verdict(each, worst(rows.map((row) => row.worstNet))),
      verdict(
        { ...each, what: `${each.what}, with pauses` },
        worst(rows.map((row) => row.worstNetWithPauses)),
      ),
      verdict(
        atMost(`${mode}: turns whose prefix changed`, 0, 'turns'),
        rows.length === 0 ? Number.NaN : worst(rows.map((row) => row.unstableTurns)),
      ),
    ];
  });
}

function judgeMarked({ marked }: QualityReport): readonly Verdict[] {
  const all = marked.find(({ source }) => source === ALL_AGENTS);
  const what = 'clients that ask for no caching: input cost with markers';
  return [
    verdict(atMost(`${what}, median`, 0.25, 'x'), all?.median ?? Number.NaN),
    verdict(
      atMost(`${what}, the worst of all, with pauses`, 1, 'x'),
      all?.worstWithPauses ?? Number.NaN,
    ),
    verdict(atMost(`${what}, only long pauses`, 1, 'x'), all?.slow ?? Number.NaN),
    verdict(atMost(`${what}, first requests`, 1, 'x'), all?.single ?? Number.NaN),
  ];
}

function judgeForgetting({ forgetting }: QualityReport): readonly Verdict[] {
  const what = 'results left out at cold moments';
  return [
    verdict(
      atMost(`${what}: input cost, the worst of all`, 1, 'x'),
      forgetting?.worst ?? Number.NaN,
    ),
    verdict(
      atMost(`${what}: other turns whose prefix changed`, 0, 'turns'),
      forgetting?.unstableTurns ?? Number.NaN,
    ),
  ];
}

function judgeTimes({ speed, firstSight }: QualityReport): readonly Verdict[] {
  const worst = (pick: (row: QualityReport['firstSight'][number]) => number): number =>
    firstSight.length === 0 ? Number.NaN : Math.max(...firstSight.map(pick));
  const first = 'code at first sight, slowest language, 10,000 tokens';
  return [
    verdict(atMost('10,000 tokens, p50', 5, 'ms'), speed.p50Ms),
    verdict(atMost('10,000 tokens, p95', 15, 'ms'), speed.p95Ms),
    verdict(atMost('a line of 1 MB', 50, 'ms'), speed.longLineMs),
    verdict(
      atMost(first, 60, 'ms'),
      worst((row) => row.firstMs),
    ),
    verdict(
      atMost(`${first}, thread not prepared`, 60, 'ms'),
      worst((row) => row.unpreparedMs),
    ),
  ];
}
