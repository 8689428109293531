/**
 * Alert rules: which ones are rejected, when an alert starts and ends, and how each figure is
 * computed.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { projectRoot } from '../../fixtures/paths.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { isFailure } from '../../stages/ledger/row.ts';
import type { BadCase } from '../../fixtures/server/config-text.ts';
import { expectOneFaultEach, faultsOf, loadText } from '../../fixtures/server/config-text.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { evaluateRule } from './evaluate.ts';
import type { AlertRule, AlertState } from './evaluate.ts';
import { measure } from './measure.ts';
import type { MeasureOptions } from './measure.ts';
import { ALERT_METRICS } from './metrics.ts';
import type { AlertMetric } from './metrics.ts';
import { EVERY_MS, watchAlerts } from './watch.ts';

const MINUTE_MS = 60_000;
const RULE: AlertRule = {
  name: 'errors',
  metric: 'error_rate',
  above: 0.5,
  below: null,
  windowMs: 5 * MINUTE_MS,
  message: null,
  cooldownMs: 60 * MINUTE_MS,
  notify: [],
};

test('refuses an invalid rule, and suggests the nearest metric for an unknown one', async () => {
  const rule = (when: string, rest = '') => `alerts: [{ name: a, when: { ${when} }${rest} }]`;
  const cases: BadCase[] = [
    [
      { file: rule('metric: eror_rate, above: 1') },
      'alerts: "a": "eror_rate" is not a metric; did you mean error_rate?',
    ],
    [{ file: rule('metric: errors') }, 'alerts: "a": expected either above or below'],
    [
      { file: rule('metric: errors, above: 1, below: 2') },
      'alerts: "a": expected either above or below',
    ],
    [
      { file: rule('metric: disk_free_mb, below: 9, window_minutes: 5') },
      'alerts: "a": disk_free_mb has no window',
    ],
    [
      { file: rule('metric: errors, above: 1', ', cooldown: 5') },
      'alerts: found a map as item 1 (cooldown is unknown), expected a list of maps, each with name, when',
    ],
    [
      { file: rule('metric: errors, above: 1', ', cooldown_minutes: 0') },
      'alerts: found a map as item 1 (cooldown_minutes is not a whole number from 1 to 44640), expected',
    ],
    [
      { file: rule('metric: errors, abov: 1') },
      'alerts: found a map as item 1 (when.abov is unknown), expected',
    ],
    [{ file: 'alerts: [{name: a}]' }, "Missing required field 'alerts[0].when': "],
    [{ beside: rule('metric: errors, above: 1') }, 'alerts may not be set by a proxy.yaml'],
  ];
  await expectOneFaultEach(cases);
  const twice =
    'alerts: [{name: a, when: {metric: errors, above: 1}}, {name: a, when: {metric: errors, above: 2}}]';
  assert.match((await faultsOf({ file: twice }))[0]?.text ?? '', 'another rule has this name');
  const { config } = await loadText({
    file: rule('metric: errors, above: 1', ', message: oh, cooldown_minutes: 5'),
  });
  assert.equal(config.alerts, [
    { ...RULE, name: 'a', metric: 'errors', above: 1, message: 'oh', cooldownMs: 5 * MINUTE_MS },
  ]);
});

test('an alert fires once, ends, and fires again only after its cooldown', () => {
  let state: AlertState = { sinceMs: null, announcedMs: null, isAnnounced: false };
  const at = (minute: number, value: number | null, problem?: string) => {
    const judged = evaluateRule(RULE, value, problem, state, minute * MINUTE_MS);
    ({ state } = judged);
    const { isFiring, news, sinceMs } = judged.result;
    return [isFiring, news, sinceMs === null ? null : sinceMs / MINUTE_MS];
  };
  assert.equal(at(1, 0.5), [false, undefined, null]);
  assert.equal(at(2, 0.6), [true, 'begun', 2]);
  assert.equal(at(3, 0.9), [true, undefined, 2]);
  assert.equal(at(4, null, 'the disk fails'), [true, undefined, 2]);
  assert.equal(at(5, null), [false, 'ended', null]);
  assert.equal(at(6, null, 'the disk fails'), [false, undefined, null]);
  assert.equal(at(10, 0.7), [true, undefined, 10]);
  assert.equal(at(11, 0.1), [false, undefined, null]);
  assert.equal(at(50, 0.7), [true, undefined, 50]);
  assert.equal(at(62, 0.7), [true, 'begun', 50]);
});

test('every metric equals a recount of the ledger rows', () =>
  withProxy({}, async (t) => {
    for (let n = 0; n < 3; n += 1) await exchange(t.proxy.port, { body: json(MESSAGE) });
    t.upstream.script(undefined, 'status', { status: 400, times: 1 });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const rows = await t.rows(4);
    const timesMs = rows.flatMap(({ latencyMs }) => latencyMs ?? []).toSorted((a, b) => a - b);
    const sum = (values: readonly (number | null)[]) =>
      values.reduce<number>((all, value) => all + (value ?? 0), 0);
    const nth = (share: number) => timesMs[Math.ceil(share * timesMs.length) - 1];
    const errors = rows.filter(isFailure).length;
    const options: MeasureOptions = {
      nowMs: Date.now(),
      home: dirname(t.db),
      live: {
        unhealthyProviders: 3,
        droppedRows: 4,
        budgetUsedPercent: 81,
        ownerBudgetUsedPercent: 83,
        planUsedPercent: 96,
        planMinutesLeft: 12,
      },
      ask: (work) => t.proxy.services.questions.ask(work),
    };
    const measured = async (metric: AlertMetric) => measure(metric, 5 * MINUTE_MS, options);
    const expected: Partial<Record<AlertMetric, unknown>> = {
      requests: 4,
      requests_today: 4,
      errors,
      error_rate: errors / 4,
      p50_latency_ms: nth(0.5),
      p95_latency_ms: nth(0.95),
      p99_latency_ms: nth(0.99),
      average_latency_ms: sum(timesMs) / timesMs.length,
      unhealthy_providers: 3,
      dropped_rows: 4,
      budget_used_percent: 81,
      owner_budget_used_percent: 83,
      broken_promises: null,
      plan_used_percent: 96,
      plan_minutes_left: 12,
      failed_attempts: 1,
      thoughts_dropped: 0,
    };
    for (const [metric, value] of Object.entries(expected))
      assert.equal(await measured(metric as AlertMetric), value, metric);
    assert.is(errors, 1);
    const free = await measured('disk_free_mb');
    assert.ok(free !== null && free > 0);
    for (const metric of Object.keys(ALERT_METRICS))
      assert.ok((await measured(metric as AlertMetric)) !== undefined, metric);
    const noRequest = await measure('error_rate', 1, { ...options, nowMs: options.nowMs + 9e9 });
    assert.is(noRequest, null);
  }));

test('a running proxy logs the start and end of an alert, and remembers since when it fires', () =>
  withProxy({}, async (t) => {
    const clock = createManualClock(Date.now());
    const lines: string[] = [];
    const { services } = t.proxy;
    const log = {
      ...services.log,
      warning: (text: string) => void lines.push(text),
      info: (text: string) => void lines.push(text),
      error: (text: string) => void lines.push(text),
    };
    const home = dirname(t.db);
    const alert = { ...RULE, metric: 'unhealthy_providers', above: 0, message: 'look' } as const;
    const config = { ...(await loadText({})).config, home, alerts: [alert] };
    const watch = watchAlerts({
      config: () => config,
      services: { ...services, clock, log },
      notifying: { env: {}, random: randomBytes, version: '0.0.0' },
    });
    const minute = async () => {
      clock.advance(EVERY_MS);
      return (await watch.check()).alerts[0];
    };
    assert.is((await minute())?.firing, false);
    services.states.forceHealth('messages', 'unhealthy');
    const firing = await minute();
    assert.equal([firing?.firing, firing?.value], [true, 1]);
    const text = 'errors: unhealthy_providers is 1, fires above 0: look';
    assert.equal(services.activeAlerts.list(), [{ name: 'errors', since: firing?.since, text }]);
    const events = await fetch(`${t.proxy.url}/dashboard/events`);
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('event: state')) seen += (await reader.read()).value;
    assert.ok(seen.includes(`"alerts":[{"name":"errors"`), 'the dashboard has it');
    await reader.cancel();
    await minute();
    assert.match(readFileSync(join(home, 'alerts.json'), 'utf8'), '"isAnnounced":true');
    services.states.forceHealth('messages', 'healthy');
    assert.is((await minute())?.firing, false);
    assert.equal(services.activeAlerts.list(), []);
    watch.stop();
    assert.equal(lines, [
      'alert begins: errors: unhealthy_providers is 1, fires above 0: look',
      'alert ends: errors: unhealthy_providers is 0, fires above 0: look',
    ]);
    writeFileSync(join(home, 'alerts.json'), '{broken');
    assert.is((await watch.check()).firing, false);
  }));

test.after(closeClients);
test('the documentation names every metric', () => {
  const page = readFileSync(join(projectRoot, 'docs', 'figures.md'), 'utf8');
  for (const metric of Object.keys(ALERT_METRICS)) assert.match(page, `\`${metric}\``, metric);
});

test.run();
