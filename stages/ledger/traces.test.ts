import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { KeptSpans, Span } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Trace, TracedRun } from './traces.ts';
import { createTraces, toTrace } from './traces.ts';

const idle: Span = {
  node: 'lookup',
  within: undefined,
  firstInMs: undefined,
  firstOutMs: undefined,
  lastOutMs: undefined,
  busyMs: 0,
  frames: 0,
  notes: {},
};

function runOf(id: string, spans: readonly Span[] = []): TracedRun {
  return {
    id,
    startedMs: Date.UTC(2026, 10, 20),
    endpoint: '/v1/messages',
    model: 'm',
    provider: 'messages',
    status: 200,
    outcome: 'ok',
    error: null,
    durationMs: 12.345678,
    spans: { list: () => spans },
    attempts: [],
  };
}

test('the newest traces are kept, listed newest first and found by id', () => {
  const written: KeptSpans[] = [];
  const spans = (into: KeptSpans): void => void written.push(into);
  const traces = createTraces(3);
  assert.is(traces.last(), undefined);
  for (const id of ['a', 'b', 'c', 'd']) traces.add({ ...runOf(id), spans });
  assert.equal(
    traces.list().map((trace) => trace.request_id),
    ['d', 'c', 'b'],
  );
  assert.is(traces.list(1).length, 1);
  assert.is(traces.get('a'), undefined);
  assert.is(traces.get('b')?.request_id, 'b');
  assert.is(traces.last()?.request_id, 'd');
  assert.is(traces.get('__proto__'), undefined);
  assert.is(new Set(written).size, 3, 'the fourth was written over the first');
});

test('a trace that was read does not change when its record is overwritten', () => {
  const traces = createTraces(1);
  const attemptAt = (provider: string): Attempt => ({
    provider,
    model: 'm',
    key: undefined,
    startedMs: 1,
    headMs: 2,
    status: 200,
    failure: undefined,
  });
  const add = (id: string, ...providers: readonly string[]) => {
    const attempts = providers.map(attemptAt);
    traces.add({ ...runOf(id), attempts, spans: () => undefined });
    return traces.last();
  };
  const tried = (trace: Trace | undefined) => trace?.attempts.map((one) => one.provider);
  const first = add('a', 'one', 'two');
  const second = add('b', 'three');
  const third = add('c', 'four', 'five', 'six');
  assert.equal(tried(first), ['one', 'two']);
  assert.equal(tried(second), ['three']);
  assert.equal(tried(third), ['four', 'five', 'six']);
  assert.equal(tried(add('d')), []);
  assert.equal([first?.request_id, second?.request_id, third?.request_id], ['a', 'b', 'c']);
  const other: TracedRun = {
    ...runOf('e'),
    startedMs: 1,
    endpoint: '/v1/responses',
    model: 'another',
    provider: 'spare',
    status: 500,
    outcome: 'error',
    error: 'it failed',
    durationMs: 7,
  };
  traces.add({ ...other, spans: () => undefined });
  assert.equal(traces.last(), toTrace(other), 'no data of the previous run remains');
  add('d');
  traces.correct('d', { outcome: 'partial' });
  traces.correct('a', { outcome: 'error' });
  assert.is(traces.last()?.outcome, 'partial');
});

test('the failure of an attempt is shown even if it was reported after the run had ended', () => {
  const traces = createTraces();
  for (const outcome of ['cancelled', 'error', 'partial'] as const) {
    const attempt = { provider: 'messages', model: 'm', key: undefined, startedMs: 1 };
    const late = { ...attempt, headMs: 2, status: 200, failure: undefined as string | undefined };
    traces.add({ ...runOf('a'), outcome, attempts: [late], spans: () => undefined });
    late.failure = 'the client went away';
    assert.is(traces.last()?.attempts[0]?.failure, 'the client went away', outcome);
  }
});

test('an overwritten record contains no attempts of the earlier run', () => {
  const traces = createTraces(1);
  const variants: readonly Attempt[] = [
    {
      provider: 'one',
      model: 'm',
      key: 'FILE',
      startedMs: 1,
      headMs: 2,
      status: 500,
      failure: 'x',
    },
    {
      provider: 'two',
      model: undefined,
      key: undefined,
      startedMs: 3.5,
      headMs: undefined,
      status: undefined,
      failure: undefined,
    },
  ];
  const spans = (): void => undefined;
  for (const attempts of [variants, variants.toReversed(), variants.slice(1), variants]) {
    const run = { ...runOf('a'), attempts };
    traces.add({ ...run, spans });
    assert.equal(traces.last(), toTrace(run));
  }
});

test('a stage has its name in the graph and in the specification, its notes, and measurements that notes cannot override', () => {
  const compress: Span = {
    node: 'compress',
    within: undefined,
    firstInMs: 1,
    firstOutMs: 2.00049,
    lastOutMs: 2.00049,
    busyMs: 1.00051,
    frames: 1,
    notes: { tokens_before: 900, tokens_after: 300, duration_ms: 'forged' },
  };
  const trace = toTrace(runOf('a', [compress, idle]));
  assert.equal(trace.stages, [
    {
      tokens_before: 900,
      tokens_after: 300,
      name: 'compaction',
      node: 'compress',
      within: null,
      duration_ms: 1,
      first_in_ms: 1,
      first_out_ms: 2,
      last_out_ms: 2,
      frames: 1,
    },
  ]);
  assert.is(trace.duration_ms, 12.35);
  assert.is(trace.timestamp, '2026-11-20T00:00:00.000Z');
});

test('attempts show their times, with null for what did not happen', () => {
  const attempt = {
    provider: 'messages',
    model: undefined,
    key: 'MSGPROV_API_KEY',
    startedMs: 1.5,
    headMs: undefined,
    status: undefined,
    failure: 'connect',
  };
  assert.equal(toTrace({ ...runOf('a'), attempts: [attempt] }).attempts, [
    {
      provider: 'messages',
      model: null,
      key: 'MSGPROV_API_KEY',
      started_ms: 1.5,
      head_ms: null,
      status: null,
      failure: 'connect',
    },
  ]);
});

test.run();
