/**
 * `/metrics` and `/metrics/dashboard`: equal to a recount of the ledger, safe with hostile names,
 * absent when disabled.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { isFailure } from '../../stages/ledger/row.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

const HOSTILE = 'gpt-"\\\n# TYPE svc_evil counter\nsvc_evil 1{}';

async function ask(t: TestProxy, model: string, fields: object = {}): Promise<number> {
  const response = await fetch(`${t.proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer mine' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi there' }], ...fields }),
  });
  await response.text();
  return response.status;
}

async function mixedLoad(t: TestProxy): Promise<LedgerRow[]> {
  for (let index = 0; index < 4; index += 1) await ask(t, 'gpt-4o', { stream: index % 2 === 0 });
  await ask(t, HOSTILE);
  const healthy = t.upstream.script(undefined, 'status', { status: 400 });
  await ask(t, 'gpt-4o');
  await ask(t, 'gpt-4o');
  healthy();
  t.upstream.script(undefined, 'reset-mid-body');
  await ask(t, 'gpt-4o', { stream: true }).catch(() => undefined);
  return t.rows(8);
}

function sum(rows: readonly LedgerRow[], of: (row: LedgerRow) => number | null): number {
  return rows.reduce((total, row) => total + (of(row) ?? 0), 0);
}

/** Parses the text into series by name and labels; throws for a line that is not a series. */
function parse(text: string): Map<string, number> {
  const series = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# ')) continue;
    const match =
      /^([a-z_:][a-z0-9_:]*(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)$/i.exec(line);
    assert.ok(match, `a series: ${line}`);
    series.set(match[1]!, Number(match[2]));
  }
  return series;
}

test('/metrics equals the ledger, and a hostile name stays inside its label', () =>
  withProxy({ prepares: true }, async (t) => {
    const rows = await mixedLoad(t);
    const response = await fetch(`${t.proxy.url}/metrics`);
    assert.is(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    const series = parse(text);
    assert.is(series.get('svc_requests_total'), rows.length);
    assert.is(series.get('svc_errors_total'), rows.filter(isFailure).length);
    // Small requests need only the thread that was started first.
    const threads = ['threads', 'threads_at_work', 'jobs_waiting'];
    assert.equal(
      threads.map((name) => series.get(`svc_compression_${name}`)),
      [1, 0, 0],
    );
    assert.is(
      series.get('svc_tokens_input_total'),
      sum(rows, (row) => row.inputTokensRaw),
    );
    assert.is(
      series.get('svc_tokens_saved_total'),
      sum(rows, (row) => row.savedTokens),
    );
    assert.is(
      series.get('svc_tokens_output_total'),
      sum(rows, (row) => row.outputTokens),
    );
    assert.ok((series.get('svc_uptime_seconds') ?? -1) >= 0);
    for (const name of ['requests', 'tokens_input', 'tokens_saved'])
      assert.match(
        text,
        new RegExp(`# HELP svc_${name}_total .+\n# TYPE svc_${name}_total counter\n`),
      );
    assert.not.ok(series.has('svc_evil'), 'no series of its own');
    const labels = [...series.keys()].filter((key) => key.startsWith('svc_model_requests_total'));
    assert.ok(
      labels.some((label) => label.includes('svc_evil')),
      'it is a label',
    );
    const timed = rows.filter((row) => row.latencyMs !== null);
    assert.is(series.get('svc_request_duration_seconds_count{provider="chat"}'), timed.length);
    assert.is(
      series.get('svc_request_duration_seconds_bucket{provider="chat",le="+Inf"}'),
      timed.length,
    );
    const seconds = sum(rows, (row) => row.latencyMs) / 1000;
    const measured = series.get('svc_request_duration_seconds_sum{provider="chat"}') ?? 0;
    assert.ok(Math.abs(measured - seconds) < 1e-6, `${measured} is ${seconds}`);
    for (const stage of ['parse', 'compress', 'forward'])
      assert.ok((series.get(`svc_stage_duration_seconds_count{stage="${stage}"}`) ?? 0) > 0, stage);
  }));

test('/metrics uses the same provider name as the reports for a request that reached none', () =>
  withProxy({}, async (t) => {
    const refused = await fetch(`${t.proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    assert.is(refused.status, 400);
    await refused.text();
    const series = parse(await (await fetch(`${t.proxy.url}/metrics`)).text());
    assert.is(series.get('svc_request_duration_seconds_count{provider="unknown"}'), 1);
  }));

test('/metrics/dashboard equals a recount of the ledger', () =>
  withProxy({}, async (t) => {
    const rows = await mixedLoad(t);
    const body = (await (await fetch(`${t.proxy.url}/metrics/dashboard`)).json()) as Record<
      string,
      Record<string, unknown>
    >;
    const failed = rows.filter(isFailure);
    assert.is(body['requests']?.['total'], rows.length);
    assert.is(body['requests']?.['24h_window'], true);
    assert.ok(Number(body['requests']?.['throughput_req_per_sec']) > 0);
    assert.is(body['errors']?.['error_count'], failed.length);
    assert.is(body['errors']?.['error_rate'], failed.length / rows.length);
    const failures = new Map<string, number>();
    for (const { status } of failed)
      failures.set(String(status ?? 'none'), (failures.get(String(status ?? 'none')) ?? 0) + 1);
    assert.equal(body['errors']?.['top_failures'], Object.fromEntries(failures));
    const streams = rows.filter((row) => row.stream).length;
    assert.equal(body['streaming'], { count: streams, percentage: (100 * streams) / rows.length });
    assert.is(
      body['window_24h']?.['input_tokens'],
      sum(rows, (row) => row.inputTokensRaw),
    );
    assert.is(
      body['window_24h']?.['output_tokens'],
      sum(rows, (row) => row.outputTokens),
    );
    assert.is(Object.keys(body['models'] ?? {}).length, 2);
    const latencies = rows.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
    assert.is(body['latency']?.['samples'], latencies.length);
    assert.is(body['latency']?.['p99_ms'], Math.round(100 * Math.max(...latencies)) / 100);
    assert.ok(Number(body['latency']?.['p50_ms']) <= Number(body['latency']?.['p95_ms']));
    assert.is(body['cache']?.['hit_ratio'], null, 'unmeasured is null');
  }));

test('an empty ledger gives null for averages and shares, and 0 for counts', () =>
  withProxy({}, async (t) => {
    const body = (await (await fetch(`${t.proxy.url}/metrics/dashboard`)).json()) as Record<
      string,
      Record<string, unknown>
    >;
    assert.is(body['requests']?.['total'], 0);
    assert.is(body['latency']?.['p50_ms'], null);
    assert.is(body['errors']?.['error_rate'], null);
    assert.is(body['streaming']?.['percentage'], null);
    assert.is(body['window_24h']?.['total_cost'], 0);
  }));

test('metrics.enabled: false collects nothing, and a reload turns metrics on again', () => {
  let laterMs = 0;
  const clock: Clock = {
    wallMs: () => systemClock.wallMs() + laterMs,
    monotonicMs: () => systemClock.monotonicMs() + laterMs,
    after: (delayMs, callback) => systemClock.after(delayMs, callback),
  };
  return withProxy({ clock, yaml: 'metrics: { enabled: false }' }, async (t) => {
    await ask(t, 'gpt-4o');
    for (const path of ['/metrics', '/metrics/dashboard']) {
      const response = await fetch(`${t.proxy.url}${path}`);
      assert.is(response.status, 404);
      assert.match(await response.text(), /metrics\.enabled is false/);
    }
    t.configure('metrics: { collection_window_seconds: 600 }');
    await t.proxy.reload();
    const series = parse(await (await fetch(`${t.proxy.url}/metrics`)).text());
    assert.not.ok(series.has('svc_request_duration_seconds_count{provider="chat"}'));
    await ask(t, 'gpt-4o');
    await t.rows(2);
    const samples = async () => {
      const { latency } = (await (await fetch(`${t.proxy.url}/metrics/dashboard`)).json()) as {
        latency: { samples: number };
      };
      return latency.samples;
    };
    assert.is(await samples(), 1);
    laterMs = 1_300_000;
    assert.is(await samples(), 0, 'the window has gone by');
  });
});

test('models beyond a maximum number are counted together', () =>
  withProxy({ yaml: 'security: { rate_limit_per_minute: 0 }' }, async (t) => {
    for (let index = 0; index < 60; index += 1) await ask(t, `model-${index}`);
    await t.rows(60);
    const series = parse(await (await fetch(`${t.proxy.url}/metrics`)).text());
    const counts = [...series].filter(([key]) =>
      key.startsWith('svc_model_request_duration_seconds_count'),
    );
    assert.ok(counts.length <= 41, `${counts.length} models`);
    assert.is(
      counts.reduce((total, [, count]) => total + count, 0),
      60,
    );
  }));

test.run();
