import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  judge,
  judgeCost,
  judgeLoop,
  judgeMemory,
  judgeRetrieval,
  judgeStart,
  judgeVault,
} from './bars.ts';
import { armFigures } from './compare.ts';
import type { Comparison, Sample } from './compare.ts';

const MB = 1024 * 1024;

function sample(latencyMs: number, cpuUs: number | null = null): Sample {
  const spread = { p50: latencyMs, p95: latencyMs * 2, p99: latencyMs * 3 };
  return {
    result: {
      ok: 10,
      failed: { 'status 429': 1 },
      tookMs: 1000,
      latency: spread,
      first: spread,
      bodyBytes: [5],
      cpuShare: 0.2,
    },
    perSecond: 1000 / latencyMs,
    cpuUs,
    rssBytes: cpuUs === null ? null : 50 * MB,
  };
}

function comparison(workload: string, plainMs: number, svcMs: number): Comparison {
  const direct = [sample(1), sample(1)];
  const figures = (name: 'direct' | 'plain' | 'svc', ms: number, cpuUs: number | null) =>
    armFigures({ events: 10 }, name, [sample(ms, cpuUs), sample(ms, cpuUs)], direct);
  return {
    workload,
    about: '',
    rounds: 2,
    arms: [figures('direct', 1, null), figures('plain', plainMs, 50), figures('svc', svcMs, 60)],
    throughputRatio: plainMs / svcMs,
    cpuRatio: 1.2,
  };
}

test('added time is the difference from the direct figures of the same round', () => {
  const slowRound = armFigures(
    { events: 0 },
    'svc',
    [sample(2, 70), sample(11, 90)],
    [sample(1), sample(10)],
  );
  assert.is(slowRound.addedP50Ms, 1);
  assert.is(slowRound.addedP99Ms, 3);
  assert.is(slowRound.cpuUsPerRequest, 80);
  assert.is(slowRound.cpuUsPerEvent, null);
  assert.is(slowRound.requests, 20);
  assert.is(slowRound.failed, 2);
});

test('agent-400k must reach half the throughput, agent-1m may add 10 ms', () => {
  const [half] = judge(comparison('agent-400k', 2, 4));
  const [less] = judge(comparison('agent-400k', 2, 4.1));
  assert.equal([half?.value, half?.met, less?.met], [0.5, true, false]);
  const [added] = judge(comparison('agent-1m', 2, 4));
  const [more] = judge(comparison('agent-1m', 2, 5));
  assert.equal([added?.value, added?.met, more?.met], [9, true, false]);
});

test('throughput relative to the plain proxy compares the same round', () => {
  const [own, direct] = [
    [sample(2), sample(40)],
    [sample(1), sample(10)],
  ] as const;
  const { overPlain } = armFigures({ events: 0 }, 'undici', own, direct, [sample(1), sample(20)]);
  assert.is(overPlain, 0.5);
  assert.ok(Number.isNaN(armFigures({ events: 0 }, 'undici', own, direct).overPlain));
});

test('CPU time is divided by the number of events, and direct has none', () => {
  const [direct, , svc] = comparison('sse-burst', 2, 2).arms;
  assert.is(svc?.cpuUsPerEvent, 6);
  assert.is(direct?.cpuUsPerRequest, null);
  assert.is(direct?.addedP50Ms, null);
});

test('json: throughput and added p50 and p99 pass at the bar and fail beyond it', () => {
  const met = judge(comparison('json', 1.5, 2));
  assert.equal(
    met.map(({ value, met: isMet }) => [value, isMet]),
    [
      [0.75, true],
      [1, true],
      [2, true],
    ],
  );
  const missed = judge(comparison('json', 1.5, 2.1));
  assert.equal(
    missed.map(({ met: isMet }) => isMet),
    [false, false, false],
  );
});

test('streams have bars of their own, and a workload without a bar is not judged', () => {
  assert.equal(
    judge(comparison('sse-burst', 3, 2)).map(({ what, met }) => [what, met]),
    [["sse-burst: throughput over the plain proxy's", true]],
  );
  assert.is(judge(comparison('sse-spaced', 2, 2.5))[0]?.met, false);
  assert.equal(judge(comparison('large-body', 2, 2)), []);
});

test('a bar without a measurement counts as missed', () => {
  assert.not(judgeStart(Number.NaN).met);
  assert.ok(judgeStart(0.5).met);
  const run = { workload: 'json', requests: 1, failed: 0, p99Ms: 19.9 };
  assert.ok(judgeLoop(run).met);
  assert.not(judgeLoop({ ...run, p99Ms: 20.1 }).met);
  assert.not(judgeLoop({ ...run, requests: 0 }).met, 'nothing was done');
  assert.not(judgeLoop({ ...run, failed: 1 }).met);
  const cost = { workload: 'json', what: 'observed', upper: 0.1, failed: 0 } as const;
  assert.ok(judgeCost(cost).met);
  assert.not(judgeCost({ ...cost, upper: 0.101 }).met);
  assert.not(judgeCost({ ...cost, what: 'dashboard' }).met);
  assert.not(judgeCost({ ...cost, failed: 1 }).met);
  assert.equal(
    judgeMemory([]).map(({ met }) => met),
    [false, false],
  );
});

test('memory: the maximum is judged, and growth only in the second half', () => {
  const grown = [60, 90, 100, 101, 100, 102, 101, 103].map((mb) => mb * MB);
  assert.equal(
    judgeMemory(grown).map(({ value, met }) => [value, met]),
    [
      [103, true],
      [1, true],
    ],
  );
  const leaking = [60, 70, 80, 90, 100, 110, 120, 201].map((mb) => mb * MB);
  assert.equal(
    judgeMemory(leaking).map(({ met }) => met),
    [false, false],
  );
});

test('the vault: every backend and query length has bars, and a missing figure misses its bar', () => {
  const indexing = [
    { kind: 'prose', blocks: 1, filesPerSecond: 1_500, unchangedSeconds: 1 },
    { kind: 'code', blocks: 1, filesPerSecond: 199, unchangedSeconds: 0.2 },
  ] as const;
  const queries = [
    { backend: 'json_blocks', length: 'short', p50Ms: 5, p99Ms: 20 },
    { backend: 'json_blocks', length: 'long', p50Ms: 5.1, p99Ms: 20.1 },
    { backend: 'sqlite', length: 'short', p50Ms: 15, p99Ms: 60 },
  ] as const;
  const verdicts = judgeVault({ indexing, queries, watchSeconds: 0.9 });
  assert.equal(
    verdicts.filter(({ met }) => !met).map(({ what }) => what),
    [
      'code: new',
      'json_blocks: long queries, p50',
      'json_blocks: long queries, p99',
      'sqlite: long queries, p50',
      'sqlite: long queries, p99',
    ],
  );
  assert.is(verdicts.length, 13);
});

test('retrieval: both backends reach the bar with the same scores', () => {
  const of = (memory: number, sqlite: number) =>
    [
      { backend: 'json_blocks', ndcg10: memory },
      { backend: 'sqlite', ndcg10: sqlite },
    ] as const;
  const met = (...args: Parameters<typeof judgeRetrieval>) =>
    judgeRetrieval(...args).map((verdict) => verdict.met);
  assert.equal(met(of(0.3861, 0.385), 0), [true, true, true]);
  assert.equal(met(of(0.3849, 0.3861), 0.001), [false, true, false]);
  assert.equal(met([], Number.NaN), [false, false, false]);
});

test.run();
