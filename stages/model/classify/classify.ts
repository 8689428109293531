/**
 * One classifier for all content: text and its origin → class. It is a list of rules over line
 * features of a sample, of which the first match wins. The time is linear in the text with a small
 * constant, and does not depend on the length of a line.
 */
import type { Classification, TextClass } from './classes.ts';
import { withoutColours } from './colours.ts';
import { isBracedConfig, isBuildFile, isConfig, isTableConfig } from './config-files.ts';
import { colonNumbering, lineNumbering, openEnvelope } from './envelope.ts';
import type { Evidence } from './evidence.ts';
import { countFeatures, sampleLines, type FeatureCounts } from './features.ts';
import { expectFrom, type ClassifyHints, type Expectation } from './hints.ts';
import { afterPreface } from './preface.ts';
import { looksLikeProse } from './prose.ts';
import { looksLikeTable } from './rows.ts';
import { CLEAR, isRun, LIKELY, WORK_MARKS } from './run.ts';
import { looksLikeBlob, looksLikeJson } from './shapes.ts';
import { totalsAtEnds } from './totals.ts';

type Rule = readonly [TextClass, (evidence: Evidence) => boolean];

const MAX_LINES = 20_000;
const END_CHARS = 8000;
/** How many characters of a paragraph are searched for sentences. */
const PROSE_CAP = 2000;
/**
 * Classes of files whose name identifies them: what looks like rows or hits in them is their own
 * content.
 */
const TEXT_FILES: ReadonlySet<TextClass | undefined> = new Set(['code', 'config', 'narrative']);
const FACTS: ReadonlySet<TextClass | undefined> = new Set(['grep', 'listing', 'diff', 'other']);

const RULES: readonly Rule[] = [
  ['json', ({ text, numbered }) => !numbered && looksLikeJson(text)],
  ['blob', ({ text }) => looksLikeBlob(text)],
  ['diff', isDiff],
  ['html', isHtml],
  // A JSON parser does not accept line numbers before its lines.
  ['config', ({ text, numbered }) => numbered && looksLikeJson(text)],
  ['config', isTableConfig],
  ['log', isCiLog],
  ['trace', isTrace],
  ['listing', isLongListing],
  ['other', isCommitLog],
  ['log', isStamped],
  ['grep', isGrep],
  ['other', isTable],
  ['log', isLog],
  ['log', (evidence) => evidence.report && isExpected(evidence, 'log') && !isColumns(evidence)],
  ['log', (evidence) => evidence.file && isExpected(evidence, 'log')],
  ['listing', isListing],
  ['log', (evidence) => isRun(evidence, CLEAR)],
  ['code', (evidence) => isExpected(evidence, 'code')],
  ['code', ({ text, expected }) => expected === 'config' && text.startsWith('#!')],
  ['config', (evidence) => isExpected(evidence, 'config') || isExpected(evidence, 'json')],
  ['narrative', (evidence) => isExpected(evidence, 'narrative')],
  ['grep', ({ expected, facts }) => facts && expected === 'grep'],
  ['listing', ({ expected, facts }) => facts && expected === 'listing'],
  ['other', (evidence) => isExpected(evidence, 'other') || isTypesetting(evidence)],
  ['code', ({ text }) => text.startsWith('#!')],
  ['code', ({ features, markdownFences }) => !markdownFences && isBuildFile(features)],
  ['config', isConfig],
  ['config', isBracedConfig],
  ['code', isCode],
  ['narrative', isNarrative],
  ['log', (evidence) => isRun(evidence, LIKELY)],
];

/**
 * Returns the class of `text`. Pure: the same text and hints give the same class on every machine.
 */
export function classify(text: string, hints: ClassifyHints = {}): Classification {
  const expectation = expectFrom(hints);
  const evidence = gatherEvidence(text, expectation);
  const kind = RULES.find(([, holds]) => holds(evidence))?.[0] ?? 'other';
  return describe(kind, expectation);
}

/** Gathers the evidence that the rules examine. */
export function gatherEvidence(text: string, expectation: Expectation = {}): Evidence {
  const body = withoutColours(openEnvelope(text).body);
  const view = withoutNumbers(linesOf(body), expectation.kind);
  const classifiedLines = outsideFences(afterPreface(view.lines));
  const lines = sampleLines(classifiedLines.kept);
  return {
    text: view.numbered ? view.lines.join('\n') : body,
    numbered: view.numbered,
    lines,
    totals: once(() => totalsAtEnds(classifiedLines.kept)),
    isProse: once(() => looksLikeProse(sampleLines(classifiedLines.kept, PROSE_CAP))),
    features: countFeatures(lines),
    expected: expectation.kind,
    facts: expectation.certain === true && FACTS.has(expectation.kind),
    report: expectation.report === true,
    ran: expectation.ran === true,
    file: expectation.file === true,
    markdownFences: classifiedLines.fenced,
  };
}

/**
 * Returns the lines of a text; for a very long one, the first lines and the end, which shows how a
 * run ended.
 */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n', MAX_LINES);
  return lines.length < MAX_LINES ? lines : [...lines, ...text.slice(-END_CHARS).split('\n')];
}

function once<Found>(find: () => Found): () => Found {
  let found: { readonly value: Found } | undefined;
  return () => (found ??= { value: find() }).value;
}

function describe(kind: TextClass, expected: Expectation): Classification {
  return {
    kind,
    ...(expected.kind === kind && expected.extension !== undefined
      ? { extension: expected.extension }
      : {}),
    ...(expected.file === true ? { file: true } : {}),
  };
}

/**
 * Returns the lines without the numbers of a file view. If search hits are expected, the numbers
 * belong to them.
 */
function withoutNumbers(
  lines: readonly string[],
  expected: TextClass | undefined,
): { lines: readonly string[]; numbered: boolean } {
  const widths = lineNumbering(lines) ?? (expected === 'grep' ? undefined : colonNumbering(lines));
  if (widths === undefined) return { lines, numbered: false };
  return { lines: lines.map((line, index) => line.slice(widths[index])), numbered: true };
}

/** Fenced code inside Markdown would make prose look like code, so it is not counted. */
function outsideFences(lines: readonly string[]): { kept: readonly string[]; fenced: boolean } {
  const fence = /^\s{0,6}(?:```|~~~)/;
  const marks = lines.filter((line) => fence.test(line.slice(0, 12))).length;
  if (marks < 2) return { kept: lines, fenced: false };
  let inside = false;
  const kept = lines.filter((line) => {
    const isMark = fence.test(line.slice(0, 12));
    if (isMark) inside = !inside;
    return isMark || !inside;
  });
  return { kept, fenced: true };
}

function isExpected({ expected, features }: Evidence, kind: TextClass): boolean {
  return expected === kind && features.lines > 0;
}

function isDiff({ text, features }: Evidence): boolean {
  const hunk = text.startsWith('@@ -') || text.includes('\n@@ -') || text.includes('\n@@@ -');
  if (!hunk) return false;
  // Commit messages, which may be long, come between the diffs.
  return features.share('diffLine') >= (features.of('commitHeader') > 0 ? 0.4 : 0.6);
}

function isHtml({ text, features }: Evidence): boolean {
  const start = text.slice(0, 400).trimStart();
  if (/^(?:<!doctype html|<html|<\?xml|<svg)/i.test(start)) return true;
  return features.lines >= 5 && features.share('tagLine') >= 0.6 && /<\/\w|\/>/.test(text);
}

function isCiLog({ features, facts }: Evidence): boolean {
  return !facts && features.of('ciMark') >= 3 && features.share('ciMark') >= 0.3;
}

const STACK_FRAMES = [
  'pyFrame',
  'jsFrame',
  'javaFrame',
  'goFrame',
  'rustFrame',
  'rubyFrame',
  'phpFrame',
  'perlFrame',
  'luaFrame',
  'elixirFrame',
] as const;

/** A text with at most this many lines needs only one frame below a message. */
const SHORT_TRACE = 12;

/**
 * Every trace of these kinds contains one of these strings, and few other texts do; the lines of
 * the rest need no check.
 */
const OTHER_TRACES = [
  '#0 ',
  '#1 ',
  'Stacktrace:',
  'CallStack (',
  '    while executing',
  'Backtrace',
  'in file "',
  'Cell In',
  '@http',
  '@file:',
  '│ ',
  ' 0x0000',
];

function stackFrameShare({ text, features }: Evidence): number {
  return OTHER_TRACES.some((mark) => text.includes(mark))
    ? features.share(...STACK_FRAMES, 'otherFrame')
    : features.share(...STACK_FRAMES);
}

function isTrace(evidence: Evidence): boolean {
  const { features, expected, facts } = evidence;
  if (facts || features.share('testMark') > 0.25 || features.share('timestamp') > 0.4) return false;
  // A test run shows traces, and ends with totals.
  if (features.of('testFrame') >= (expected === 'log' ? 1 : 2)) return false;
  const stackFrames = stackFrameShare(evidence);
  const traceHeaders = features.of('traceHeader');
  if (expected === 'code' && traceHeaders < 2) return false;
  const stackFrameCount = Math.round(stackFrames * features.lines);
  if (stackFrameCount < 1) return false;
  if (traceHeaders >= 1 && features.lines <= SHORT_TRACE) return true;
  return stackFrames >= 0.14 && (traceHeaders >= 1 || stackFrames >= 0.45);
}

function isLongListing({ features }: Evidence): boolean {
  return features.share('longListing', 'treeLine', 'gitTree') >= 0.6;
}

/** Any text with timed lines matches this. */
const TIME = /\d\d:\d\d|\b1\d{9}\.\d{3}\b/;

/**
 * Returns true if each line begins with a time, or has one near its beginning besides other signs
 * of logs. Rows below a heading, rows of commits and hits in logs have times too.
 */
function isStamped(evidence: Evidence): boolean {
  const { text, lines, features, expected, facts } = evidence;
  if (facts || expected === 'other' || expected === 'grep' || TEXT_FILES.has(expected))
    return false;
  if (features.share('timestamp') < 0.6) {
    if (!TIME.test(text.slice(0, 2000)) || features.share('timestamp', 'clock') < 0.6) return false;
    if (expected !== 'log' && (isColumns(evidence) || features.share('level', 'clockMark') < 0.3))
      return false;
  }
  const first = countFeatures(lines.slice(0, 1));
  if (first.of('timestamp') + first.of('clock') === 0 && looksLikeTable(lines.slice(0, 8)))
    return false;
  return features.share('grepHit') < 0.6 && features.share('hashRow') < 0.5;
}

/** Returns true for commits with their authors and dates, which matter as much as the messages. */
function isCommitLog({ lines, features, expected }: Evidence): boolean {
  return (
    !TEXT_FILES.has(expected) &&
    features.of('commitHeader') > 0 &&
    countFeatures(lines.slice(0, 1)).of('commitHeader') === 1
  );
}

function isGrep({ features, expected, facts, report, ran, file }: Evidence): boolean {
  // Times in rows of facts look like places.
  if (report || (file && expected === 'log') || (facts && expected !== 'grep')) return false;
  if (features.share('diagnostic') >= 0.3 || features.share('timestamp') >= 0.4) return false;
  // A linter prints findings that look like search hits.
  if (ran && features.share('problem', 'findingCode', 'levelWord') >= 0.5) return false;
  const hits = features.share('grepHit', 'grepContext', 'revHit');
  if (TEXT_FILES.has(expected)) return false;
  if (hits >= 0.6 || features.share('listedHit') >= 0.3) return true;
  if (features.share('grepHitSpaced') >= 0.7 || isHeadedGrep(features)) return true;
  if (features.lines >= 3 && features.share('revFile') >= 0.9) return true;
  if (expected !== 'grep') return features.lines >= 3 && features.share('grepNumber') >= 0.95;
  return hits >= 0.3 || features.share('grepNumber', 'grepFile') >= 0.5;
}

/** Returns true for hits below the name of their file, as `rg --heading` prints them. */
function isHeadedGrep(features: FeatureCounts): boolean {
  const hits = features.share('grepNumber');
  return (
    hits >= 0.4 &&
    features.of('slashPath') + features.of('fileName') > 0 &&
    features.share('grepNumber', 'hitHeading') >= 0.95
  );
}

/**
 * Returns true for rows of cells. Among log lines only a header distinguishes a table from a log
 * that has commas.
 */
function isTable(evidence: Evidence): boolean {
  const { lines, expected, features, facts, markdownFences, report } = evidence;
  if (report || TEXT_FILES.has(expected)) return false;
  if (markdownFences || features.of('heading') > 0) return false;
  if (!looksLikeTable(lines)) return false;
  // Search results are rows, even if the lines originally came from a compiler.
  const logged = facts
    ? features.share('timestamp', 'level', 'testMark', 'buildMark')
    : features.share('timestamp', 'clock', 'level', ...WORK_MARKS, 'step');
  return (
    logged < 0.3 ||
    (logged < 1 &&
      countFeatures(lines.slice(0, 1)).share('timestamp', 'clock', ...WORK_MARKS) === 0 &&
      looksLikeTable(lines.slice(0, 8)))
  );
}

/**
 * Returns true for the source of a manual page, TeX or subtitles: sentences between commands, each
 * of which counts.
 */
function isTypesetting({ text }: Evidence): boolean {
  return /^(?:[\d:]{5,8}[.,]\d{3} --> |\.(?:TH|SH|Dd|Sh)\b|\\(?:documentclass|begin\{))/m.test(
    text.slice(0, 8000),
  );
}

/** Returns true for columns aligned with spaces. */
function isColumns({ features }: Evidence): boolean {
  return features.lines >= 5 && features.share('columns') >= 0.9;
}

/**
 * Returns true for sentences, or a document's layout with sentences in it; a diff in an unknown
 * format has sentences too.
 */
function isNarrative(evidence: Evidence): boolean {
  const { text, isProse, facts, expected, features, markdownFences } = evidence;
  if (facts || expected === 'log' || /^@@+ -\d/m.test(text.slice(0, 20_000))) return false;
  // A source file may open with pages of prose; only fences say that the code is an example.
  if (!markdownFences && features.share('codeEnd', 'codeWord') >= 0.12) return false;
  return isProse();
}

/** Longer texts that end with totals may be documents quoting them. */
const SHORT_RUN = 4000;

/**
 * Returns true if a test runner's totals come at an end; totals of any kind if a tool ran that
 * reports on its work.
 */
function endsAsRun(evidence: Evidence): boolean {
  const { text, totals, isProse, features, expected, report, markdownFences } = evidence;
  if (markdownFences) return false;
  const isReport = report || features.of('testMark') + features.of('statusMark') >= 2;
  const found = totals();
  if (found !== 'runner' && (found === undefined || !isReport)) return false;
  return expected === 'log' || text.length < SHORT_RUN || !isProse();
}

function isLog(evidence: Evidence): boolean {
  const { features, expected, facts } = evidence;
  if (facts || expected === 'other') return false;
  if (TEXT_FILES.has(expected)) {
    return features.share('timestamp') >= 0.7;
  }
  if (features.share('timestamp', 'level') >= 0.5) return features.share('hashRow') < 0.5;
  // Continuation lines of a message are indented below it.
  if (features.of('level') >= 3 && features.share('timestamp') >= 0.2)
    if (features.share('timestamp', 'level', 'indented') >= 0.95) return true;
  const strong = features.of('testMark') + features.of('diagnostic');
  if (features.of('testFrame') >= 1 && strong >= 2) return true;
  return endsAsRun(evidence);
}

function isListing({ features, expected }: Evidence): boolean {
  if (expected === 'listing') return features.share('pathLine', 'dirHeading') >= 0.7;
  if (TEXT_FILES.has(expected)) return false;
  // Compilers are called with paths; steps, requests and installers name them.
  if (features.share('step', 'statusMark', 'buildMark') >= 0.5) return false;
  // Headings of `ls -R`: the entries below them may be names of any kind.
  if (features.of('dirHeading') >= 2 && features.share('pathWord', 'dirHeading') >= 0.9)
    return true;
  if (features.lines < 3) return false;
  if (features.share('slashPath', 'fileName', 'treeLine', 'longListing') < 0.6) return false;
  return features.share('slashPath', 'fileName', 'pathWord', 'treeLine') >= 0.9;
}

function isCode({ features, markdownFences }: Evidence): boolean {
  const code = features.share('codeEnd', 'codeWord', 'codeShape', 'comment');
  const strong = features.share('codeEnd', 'codeWord');
  const prose = features.share('heading', 'bullet', 'link', 'quoteLine');
  if (markdownFences && (features.of('heading') > 0 || features.share('prose') > 0.2)) return false;
  if (features.share('prose') > 0.5 && strong < 0.3) return false;
  return code >= 0.45 && strong >= 0.15 && strong > prose * 0.8;
}
