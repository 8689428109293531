import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeptSpans } from '../../engine/index.ts';
import type { Span } from '../../engine/index.ts';
import type { TracedRun } from './traces.ts';
import { createTraces, toTrace } from './traces.ts';

const idle: Span = {
  node: 'lookup',
  traceAs: undefined,
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

test('the newest are kept, found by id, newest first; the oldest go', () => {
  const written: (KeptSpans | undefined)[] = [];
  const spans = (into?: KeptSpans): KeptSpans => {
    written.push(into);
    return into ?? new KeptSpans();
  };
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
  assert.is(
    written.slice(0, 3).every((into) => into === undefined),
    true,
  );
  assert.instance(written[3], KeptSpans);
});

test('a stage has the specification’s name, its notes, and measurements that notes cannot replace', () => {
  const compress: Span = {
    node: 'compress',
    traceAs: 'compaction',
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
      duration_ms: 1.001,
      first_in_ms: 1,
      first_out_ms: 2,
      last_out_ms: 2,
      frames: 1,
    },
  ]);
  assert.is(trace.duration_ms, 12.346);
  assert.is(trace.timestamp, '2026-11-20T00:00:00.000Z');
});

test('attempts show the waterfall with null for what did not happen', () => {
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
