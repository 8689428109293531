import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeQuality } from './judge.ts';
import type { QualityReport } from './report.ts';

const SAVED = {
  'json, all, as found': 0.01,
  'json, uniform records, vs pretty': 0.45,
  'json, uniform records, vs compact': 0.18,
  'config, aggressive': 0.1,
  grep: 0.35,
  listings: 0.35,
  'diffs of edits': 0.2,
  'diffs, commits of this repository': 0.2,
  'diffs between unrelated files': 0.01,
  'code, aggressive': 0.08,
};

const log = { logs: 1, critical: 1, criticalFound: 1, interval: [0, 1] as const };
const source = {
  transcripts: 1,
  withSystem: 1,
  saved: 0.1,
  medianNet: 0.9,
  worstNet: 1,
  medianNetWithPauses: 0.904,
  worstNetWithPauses: 1,
  unstableTurns: 0,
  medianNetByReadPrice: [0.9, 0.92, 0.95],
  worstNetByReadPrice: [1, 1, 1],
};

const CLASSES = [
  'code',
  'config',
  'diff',
  'grep',
  'json',
  'listing',
  'log',
  'narrative',
  'trace',
] as const;

/** A run that just meets every bar. */
const report: QualityReport = {
  corpus: true,
  classes: CLASSES.map((kind) => ({
    kind,
    samples: 20,
    right: 19,
    accuracy: 0.95,
    wrong: [],
  })),
  encodings: Object.entries(SAVED).map(([name, saved]) => ({
    name,
    saved,
    texts: 9,
    unchanged: 0,
    broken: 0,
  })),
  logs: [
    { ...log, budgetTokens: 3500, recall: 0.85, recallOfAll: 1, saved: 0.9, lostCritical: [] },
    { ...log, budgetTokens: 2000, recall: 0.8, recallOfAll: 1, saved: 0.9, lostCritical: [] },
  ],
  narrative: [
    { mode: 'hybrid', cases: 1, saved: 0.25, sameQuery: 0.99, laterQuery: 0.85, laterCases: 1 },
    { mode: 'aggressive', cases: 1, saved: 0, sameQuery: 0, laterQuery: 0, laterCases: 1 },
  ],
  transcripts: [],
  sources: (['hybrid', 'aggressive'] as const).flatMap((mode) => [
    { ...source, mode, source: 'tau', medianNet: 1 },
    { ...source, mode, source: 'all coding agents' },
  ]),
  marked: [
    {
      source: 'all agents',
      transcripts: 1,
      median: 0.25,
      worst: 0.3,
      medianWithPauses: 0.5,
      worstWithPauses: 1,
      slow: 1,
      single: 1,
    },
  ],
  forgetting: {
    transcripts: 1,
    forgotten: 9,
    askedAgain: 0,
    median: 0.9,
    worst: 1,
    medianByReadPrice: [1, 1, 1],
    unstableTurns: 0,
  },
  keptLines: { kept: 100, strange: 0 },
  recipes: {
    savings: [],
    time: { requests: 9, rounds: 9, withoutP50Ms: 5, addedP50Ms: 1, addedP95Ms: 3 },
  },
  speed: { texts: 1, p50Ms: 5, p95Ms: 15, longLineMs: 50 },
  firstSight: [
    { extension: 'ts', firstMs: 60, unpreparedMs: 60, nextMs: 1 },
    { extension: 'js', firstMs: 1, unpreparedMs: 1, nextMs: 1 },
  ],
};

const missed = (found: QualityReport): readonly string[] =>
  judgeQuality(found)
    .filter(({ met }) => !met)
    .map(({ what }) => what);

test('a run exactly at its bars meets all of them', () => {
  assert.equal(missed(report), []);
  assert.is(judgeQuality(report).length, 54);
});

/**
 * Returns copies of the report, each with a single occurrence of the number `from` replaced by
 * `to`.
 */
function variants(value: unknown, from: number, to: number): unknown[] {
  if (value === from) return [to];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    variants(member, from, to).map((changed) =>
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed },
    ),
  );
}

test('a run beyond one bar misses only that one', () => {
  const cases: readonly (readonly [
    part: keyof QualityReport,
    from: number,
    to: number,
    count: number,
  ])[] = [
    ['classes', 0.95, 0.949, CLASSES.length],
    ['encodings', 0.45, 0.449, 1],
    ['encodings', 0.18, 0.179, 1],
    ['encodings', 0.1, 0.099, 1],
    ['encodings', 0.35, 0.349, 2],
    ['encodings', 0.2, 0.199, 2],
    ['encodings', 0.08, 0.079, 1],
    ['encodings', 0.35, Number.NaN, 2],
    ['logs', 0.85, 0.849, 1],
    ['logs', 0.8, 0.799, 1],
    ['narrative', 0.25, 0.249, 1],
    ['narrative', 0.25, 0.351, 1],
    ['narrative', 0.99, 0.989, 1],
    ['narrative', 0.85, 0.849, 1],
    ['sources', 0.9, 0.901, 2],
    ['marked', 0.25, 0.251, 1],
    ['marked', 1, 1.001, 3],
    ['forgetting', 1, 1.001, 1],
    ['forgetting', 0, 1, 1],
    ['keptLines', 0, 1, 1],
    ['recipes', 1, 1.01, 1],
    ['speed', 5, 5.1, 1],
    ['speed', 15, 15.1, 1],
    ['speed', 50, 50.1, 1],
    ['speed', 50, Number.NaN, 1],
    ['firstSight', 60, 61, 2],
  ];
  for (const [part, from, to, count] of cases) {
    const changed = variants(report[part], from, to) as never[];
    const counted = changed.filter((each) => missed({ ...report, [part]: each }).length === 1);
    assert.is(counted.length, count, `${part}: ${from} to ${to}`);
  }
});

test('a lost line, a changed prefix or a costly conversation is detected in any position', () => {
  for (const at of report.encodings.keys()) {
    const encodings = report.encodings.with(at, { ...report.encodings[at]!, broken: 1 });
    assert.is(missed({ ...report, encodings }).length, 1, encodings[at]!.name);
  }
  for (const at of report.sources.keys()) {
    for (const worse of [
      { unstableTurns: 1 },
      { worstNet: 1.001 },
      { worstNetWithPauses: 1.001 },
    ]) {
      const sources = report.sources.with(at, { ...report.sources[at]!, ...worse });
      assert.is(missed({ ...report, sources }).length, 1);
    }
  }
});

test('a missing row or class misses its bar, and a new one is judged as well', () => {
  for (const at of CLASSES.keys())
    assert.is(missed({ ...report, classes: report.classes.toSpliced(at, 1) }).length, 1);
  for (const at of report.encodings.keys())
    assert.ok(missed({ ...report, encodings: report.encodings.toSpliced(at, 1) }).length > 0);
  const classes = [
    ...report.classes,
    { ...report.classes[0]!, kind: 'html', accuracy: 0.5 } as const,
  ];
  assert.equal(missed({ ...report, classes }), ['classifier, html']);
  const encodings = [...report.encodings, { ...report.encodings[0]!, name: 'html', broken: 1 }];
  assert.equal(missed({ ...report, encodings }), ['html: texts that lost something']);
});

test('a missing measurement misses its bar; without a corpus the bars of the corpus do not apply', () => {
  const empty = {
    classes: [],
    encodings: [],
    logs: [],
    narrative: [],
    sources: [],
    firstSight: [],
  };
  const nothing = { ...report, ...empty, keptLines: undefined, recipes: undefined };
  // All except the three times of `speed`.
  assert.is(missed(nothing).length, 45);
  const without = { ...nothing, corpus: false };
  const names = missed(without);
  assert.not(names.some((name) => /json|config|prose|net cost|CI logs/.test(name)));
  assert.is(names.length, 17);
  assert.ok(names.includes('grep: saved'));
});

test.run();
