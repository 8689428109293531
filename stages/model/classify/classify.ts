/**
 * One classifier for all content: text and where it came from → class. A list of rules,
 * first match wins, over line features of a sample: time is linear in the text with a
 * small constant, and does not depend on how long a line is.
 */
import type { Classification, LogKind, TextClass } from './classes.ts';
import { lineNumbering, openEnvelope } from './envelope.ts';
import { countFeatures, sampleLines, type FeatureCounts } from './features.ts';
import { expectFrom, type ClassifyHints, type Expectation } from './hints.ts';
import { looksLikeBlob, looksLikeJson } from './shapes.ts';

interface Evidence {
  readonly text: string;
  readonly features: FeatureCounts;
  readonly expected: TextClass | undefined;
  readonly markdownFences: boolean;
}

type Rule = readonly [TextClass, (evidence: Evidence) => boolean];

const RULES: readonly Rule[] = [
  ['json', ({ text }) => looksLikeJson(text)],
  ['blob', ({ text }) => looksLikeBlob(text)],
  ['diff', isDiff],
  ['html', isHtml],
  ['config', isTableConfig],
  ['log', isCiLog],
  ['trace', isTrace],
  ['listing', isLongListing],
  ['grep', isGrep],
  ['log', isLog],
  ['listing', isListing],
  ['code', (evidence) => isExpected(evidence, 'code')],
  ['config', (evidence) => isExpected(evidence, 'config')],
  ['narrative', (evidence) => isExpected(evidence, 'narrative')],
  ['log', (evidence) => isExpected(evidence, 'log')],
  ['config', isConfig],
  ['code', isCode],
  ['listing', (evidence) => isExpected(evidence, 'listing')],
];

/** The class of `text`. Pure: the same text and hints give the same class on every machine. */
export function classify(text: string, hints: ClassifyHints = {}): Classification {
  const expectation = expectFrom(hints);
  const body = openEnvelope(text).body;
  const lines = outsideFences(unnumbered(body.split('\n', 20_000)));
  const features = countFeatures(sampleLines(lines.kept));
  const evidence: Evidence = {
    text: body,
    features,
    expected: expectation.kind,
    markdownFences: lines.fenced,
  };
  const kind = RULES.find(([, holds]) => holds(evidence))?.[0] ?? 'narrative';
  return describe(kind, features, expectation);
}

function describe(kind: TextClass, features: FeatureCounts, expected: Expectation): Classification {
  if (kind === 'log') return { kind, log: logKind(features) };
  if (expected.kind !== kind || expected.extension === undefined) return { kind };
  return { kind, extension: expected.extension };
}

function unnumbered(lines: readonly string[]): readonly string[] {
  const widths = lineNumbering(lines);
  return widths === undefined ? lines : lines.map((line, index) => line.slice(widths[index]));
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
  if (expected !== kind || features.lines === 0) return false;
  if (kind === 'listing') return features.share('prose') < 0.3 && features.share('pathLine') >= 0.5;
  return true;
}

function isDiff({ text, features }: Evidence): boolean {
  const hunk = text.startsWith('@@ -') || text.includes('\n@@ -') || text.includes('\n@@@ -');
  return hunk && features.share('diffLine') >= 0.6;
}

function isHtml({ text, features }: Evidence): boolean {
  const start = text.slice(0, 400).trimStart();
  if (/^(?:<!doctype html|<html|<\?xml|<svg)/i.test(start)) return true;
  return features.lines >= 5 && features.share('tagLine') >= 0.6;
}

function isCiLog({ features }: Evidence): boolean {
  return features.of('ciMark') >= 3 && features.share('ciMark') >= 0.3;
}

function isTrace({ features, expected }: Evidence): boolean {
  if (features.share('testMark') > 0.25 || features.share('timestamp') > 0.4) return false;
  const frames = features.share('pyFrame', 'jsFrame', 'javaFrame', 'goFrame', 'rustFrame');
  const heads = features.of('traceHead') + features.of('goFrame') + features.of('rustFrame');
  if (expected === 'code' && heads < 2) return false;
  const frameCount = Math.round(frames * features.lines);
  return frames >= 0.14 && frameCount >= 1 && (heads >= 1 || frames >= 0.5);
}

function isLongListing({ features }: Evidence): boolean {
  return features.share('longListing', 'treeLine') >= 0.6;
}

function isGrep({ features, expected }: Evidence): boolean {
  if (features.share('diagnostic') >= 0.3 || features.share('timestamp') >= 0.4) return false;
  const hits = features.share('grepHit', 'grepContext');
  if (hits >= 0.6) return true;
  if (expected === 'code' || expected === 'config' || expected === 'narrative') return false;
  if (features.share('grepHitSpaced') >= 0.7) return true;
  if (expected !== 'grep') return features.lines >= 3 && features.share('grepNumber') >= 0.95;
  return hits >= 0.3 || features.share('grepNumber', 'grepFile') >= 0.5;
}

function isLog({ features, expected }: Evidence): boolean {
  if (expected === 'code' || expected === 'config' || expected === 'narrative') {
    return features.share('timestamp') >= 0.7;
  }
  if (features.share('timestamp', 'level') >= 0.5) return true;
  const marks = features.share('testMark', 'buildMark', 'ciMark', 'diagnostic');
  const strong = features.of('testMark') + features.of('diagnostic');
  const shaped = features.share('codeEnd', 'codeWord');
  if (features.of('testFrame') >= 1 && strong >= 2) return true;
  if (expected === 'log') return marks >= 0.12 || shaped < 0.4;
  return marks >= 0.5 || (strong >= 3 && marks >= 0.22 && shaped < marks + 0.25);
}

function isListing({ features, expected }: Evidence): boolean {
  const paths = features.share('pathLine');
  const named = features.share('slashPath', 'fileName', 'treeLine', 'longListing');
  if (expected === 'listing') return paths >= 0.7;
  if (expected === 'code' || expected === 'config' || expected === 'narrative') return false;
  // Headings of `ls -R`: what stands below them may be names of any kind.
  if (features.of('dirHeading') >= 2 && features.share('pathLine', 'dirHeading') >= 0.9)
    return true;
  return features.lines >= 3 && paths >= 0.9 && named >= 0.6;
}

/** INI and TOML: sections are so telling that inline tables, which look like code, do not matter. */
function isTableConfig({ features, expected, markdownFences }: Evidence): boolean {
  if (expected === 'code' || markdownFences || features.of('iniSection') === 0) return false;
  return (
    features.share('assignment', 'iniSection', 'hashComment') >= 0.65 &&
    features.share('codeWord') < 0.2
  );
}

function isConfig({ features, text, markdownFences }: Evidence): boolean {
  if (features.share('prose') > 0.6 && features.share('yamlKey') < 0.2) return false;
  if (/^FROM /m.test(text.slice(0, 4000)) && features.share('dockerLine') >= 0.25) return true;
  const code = features.share('codeEnd', 'codeWord');
  const yaml = features.share('yamlKey', 'hashComment');
  if (features.of('yamlKey') >= 3 && yaml >= 0.55 && code < 0.3) return !markdownFences;
  return code < 0.1 && features.lines >= 3 && features.share('assignment', 'hashComment') >= 0.85;
}

function isCode({ features, markdownFences }: Evidence): boolean {
  const code = features.share('codeEnd', 'codeWord', 'codeShape', 'comment');
  const strong = features.share('codeEnd', 'codeWord');
  const prose = features.share('heading', 'bullet', 'link', 'quoteLine');
  if (markdownFences && (features.of('heading') > 0 || features.share('prose') > 0.2)) return false;
  if (features.share('prose') > 0.5 && strong < 0.3) return false;
  return code >= 0.45 && strong >= 0.15 && strong > prose * 0.8;
}

function logKind(features: FeatureCounts): LogKind {
  const marks: readonly (readonly [LogKind, number])[] = [
    ['ci', features.share('ciMark')],
    ['test', features.share('testMark')],
    ['build', features.share('buildMark', 'diagnostic')],
    ['system', features.share('timestamp', 'level') * 0.8],
  ];
  return marks.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
