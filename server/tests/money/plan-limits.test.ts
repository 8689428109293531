/** Plan limits from providers' response headers, from the wire to `/limits`. */
import { mkdtempSync, rmSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../../engine/index.ts';
import { addHeaders } from '../../../fixtures/upstream/added-headers.ts';
import { traceOf } from '../../../fixtures/forward/pair.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { conversation } from '../../../fixtures/cli/live.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { openPlanLimits } from '../../../stages/limits/limits-file.ts';
import { createPlanLimits } from '../../../stages/limits/plan-limits.ts';
import type { PlanLimits } from '../../../stages/limits/plan-limits.ts';
import { limitsJson, planFigures } from '../../facts/limits.ts';
import type { LimitJson } from '../../facts/limits.ts';

/** Adds these header fields to all later responses. */
const state = (t: TestProxy, fields: Readonly<Record<string, string>>) =>
  t.upstream.script(undefined, addHeaders(fields));

async function limits(t: TestProxy): Promise<readonly LimitJson[]> {
  const response = await exchange(t.proxy.port, { method: 'GET', path: '/limits' });
  assert.is(response.status, 200);
  return (JSON.parse(response.text) as { readonly limits: readonly LimitJson[] }).limits;
}

const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

test('each credential has its own limits, by label or hash, and responses pass unchanged', () =>
  withProxy({}, async (t) => {
    assert.equal(await limits(t), []);
    const five = 'anthropic-ratelimit-unified-5h-utilization';
    state(t, { [five]: '0.4', 'anthropic-ratelimit-unified-5h-reset': inSeconds(9000) });
    const own = { authorization: 'Bearer sk-ant-oat01-of-anna' };
    const response = await exchange(t.proxy.port, { body: json(MESSAGE), headers: own });
    assert.is(response.headers[five], '0.4');
    state(t, { [five]: '0.9', 'anthropic-ratelimit-unified-5h-reset': inSeconds(9000) });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const [mine, annas, ...others] = await limits(t);
    assert.equal(others, []);
    assert.equal([mine!.used, annas!.used], [0.9, 0.4]);
    assert.match(annas!.key, /^client [0-9a-f]{8}$/);
    assert.not.match(mine!.key, 'client');
    assert.not.match(JSON.stringify([mine, annas]), /of-anna|messages-key/);
    const metrics = await exchange(t.proxy.port, { method: 'GET', path: '/metrics' });
    assert.match(
      metrics.text,
      `svc_plan_used_ratio{provider="messages",key="${annas!.key}",window="5h"} 0.4`,
    );
    const end = new RegExp(
      `^svc_plan_used_up_timestamp_seconds\\{[^}]*key="${mine!.key}"[^}]*\\} (\\S+)$`,
      'm',
    ).exec(metrics.text)?.[1];
    assert.is(Math.round(Number(end)), Math.round(Date.parse(mine!.used_up_at!) / 1000));
    assert.match(metrics.text, /^svc_plan_spared_tokens\{[^}]*\} 0$/m);
    assert.match(metrics.text, /^svc_plan_spared_requests\{[^}]*\} 0$/m);
    // 90 % used after two and a half of five hours: the rest will not last until the reset.
    assert.ok(Date.parse(mine!.used_up_at!) < Date.parse(mine!.resets_at!));
  }));

test('streams, refusals and providers of other kinds report limits too', () =>
  withProxy({}, async (t) => {
    state(t, { 'x-codex-primary-used-percent': '30', 'x-codex-primary-window-minutes': '300' });
    const response = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body: json(CHAT, { stream: true }),
    });
    assert.is(response.status, 200);
    assert.equal(
      (await limits(t)).map(({ provider, window, used }) => [provider, window, used]),
      [['chat', '5h', 0.3]],
    );
  }));

test('a window that has started again is not shown with its old use', () =>
  withProxy({}, async (t) => {
    state(t, {
      'anthropic-ratelimit-unified-5h-utilization': '0.4',
      'anthropic-ratelimit-unified-5h-reset': inSeconds(-5),
    });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.equal(await limits(t), []);
  }));

test('a window without a reset time expires after its length, so that a full plan is tried again', () => {
  const clock = createManualClock();
  const planLimits = createPlanLimits(clock);
  const shown = () =>
    planLimits
      .list()
      .map(({ name }) => name)
      .toSorted();
  const stated = {
    'anthropic-ratelimit-unified-5h-utilization': '0.99',
    'anthropic-ratelimit-unified-7d-utilization': '0.99',
    'x-codex-primary-used-percent': '99',
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '0',
  };
  const key = { provider: 'p', label: 'k', sent: [], request: 'r' };
  planLimits.note(key, Object.entries(stated).flat());
  assert.equal(shown(), ['5h', '7d', 'primary', 'requests']);
  clock.advance(3_600_001);
  assert.equal(shown(), ['5h', '7d', 'primary']);
  clock.advance(4 * 3_600_000);
  assert.equal(shown(), ['7d', 'primary']);
  clock.advance(19 * 3_600_000);
  assert.equal(shown(), ['7d']);
  clock.advance(6 * 86_400_000);
  assert.equal(shown(), []);
});

const WALL = [
  'fallback: [chat/other]',
  'providers: { messages: { fallback_at_percent: 95 } }',
].join('\n');

/** Sends a request; returns its attempts and the paths at which the provider got it. */
async function tried(t: TestProxy, headers: Readonly<Record<string, string>> = {}) {
  const before = t.upstream.requests.length;
  const response = await exchange(t.proxy.port, { body: json(MESSAGE), headers });
  const { attempts } = await traceOf(t, response);
  return {
    status: response.status,
    paths: t.upstream.requests.slice(before).map(({ path }) => path),
    failures: attempts.flatMap(({ failure }) => failure ?? []),
  };
}

const five = (used: string, seconds = 9000) => ({
  'anthropic-ratelimit-unified-5h-utilization': used,
  'anthropic-ratelimit-unified-5h-reset': inSeconds(seconds),
});

test('a nearly exhausted plan is skipped if so configured and another provider can respond', () =>
  withProxy({ yaml: WALL }, async (t) => {
    state(t, five('0.94'));
    await tried(t);
    assert.equal((await tried(t)).paths, ['/v1/messages'], 'below the share');
    state(t, five('0.96'));
    await tried(t);
    state(t, five('0.1'));
    const over = await tried(t);
    assert.equal([over.status, over.paths], [200, ['/v1/chat/completions']]);
    assert.equal(over.failures, [
      "skipped: 96 % of the plan's window 5h is used; providers.messages.fallback_at_percent is 95",
    ]);
    // Another credential has its own plan.
    const own = { authorization: 'Bearer sk-ant-oat01-of-anna' };
    assert.equal((await tried(t, own)).paths, ['/v1/messages']);
    // If the other providers fail, the rest of the plan is used.
    const undo = t.upstream.script('/v1/chat/completions', '500');
    const rest = await tried(t).finally(undo);
    assert.is(rest.status, 200);
    assert.is(rest.paths.at(-1), '/v1/messages');
    state(t, five('0.96'));
    await tried(t);
    state(t, five('0.1'));
    // Without another provider, the nearly used-up plan is still used.
    t.configure('providers: { messages: { fallback_at_percent: 95 } }');
    await t.proxy.reload();
    assert.equal((await tried(t)).paths, ['/v1/messages']);
    // The last response reported 10 %.
    t.configure(WALL);
    await t.proxy.reload();
    assert.equal((await tried(t)).paths, ['/v1/messages']);
    // The window of one model family does not apply to another.
    state(t, { 'anthropic-ratelimit-unified-7d_opus-utilization': '0.99' });
    await tried(t);
    assert.equal((await tried(t)).paths, ['/v1/messages']);
    // Without the setting nothing changes.
    state(t, five('0.99'));
    await tried(t);
    t.configure('fallback: [chat/other]');
    await t.proxy.reload();
    assert.equal((await tried(t)).paths, ['/v1/messages']);
  }));

test('saved tokens and requests served by svc itself are counted beside the window', () =>
  withProxy({}, async (t) => {
    state(t, five('0.4'));
    const messages = conversation('item');
    const headers = { 'x-claude-code-session-id': 'one', 'x-svc-cache': 'on' };
    const body = json(MESSAGE, { messages });
    await exchange(t.proxy.port, { body, headers });
    const [row] = await t.rows(1);
    assert.ok(row!.savedTokens! > 100);
    const [first] = await limits(t);
    assert.equal([first!.spared_tokens, first!.spared_requests], [row!.savedTokens, 0]);
    await exchange(t.proxy.port, { body, headers });
    const [, hit] = await t.rows(2);
    assert.is(hit!.cacheHit, true);
    const [second] = await limits(t);
    assert.is(second!.spared_requests, 1);
    assert.is(
      second!.spared_tokens,
      row!.savedTokens! + hit!.inputTokensRaw! + (hit!.outputTokens ?? 0),
    );
  }));

test('after a restart the proxy knows the windows, their pace and what was saved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-limits-'));
  const file = join(folder, 'limits.json');
  const clock = createManualClock();
  const resets = String((clock.wallMs() + 4 * 3_600_000) / 1000);
  const failures: unknown[] = [];
  const open = () => openPlanLimits({ file, clock, onProblem: (thrown) => failures.push(thrown) });
  const sent = ['authorization', 'Bearer x', 'session-id', 'one'];
  const note = (to: PlanLimits, used: string, request: string) =>
    to.note({ provider: 'messages', label: 'KEY', sent, request }, [
      'anthropic-ratelimit-unified-5h-utilization',
      used,
      'anthropic-ratelimit-unified-5h-reset',
      resets,
    ]);
  const before = await open();
  note(before.planLimits, '0.2', 'a');
  clock.advance(1_800_000);
  note(before.planLimits, '0.4', 'b');
  before.planLimits.noteSpared({ id: 'b', sessionId: null }, { tokens: 70, requests: 1 });
  await before.flush();
  assert.is(statSync(file).mode & 0o777, 0o600);
  const after = await open();
  assert.equal(after.planLimits.list(), before.planLimits.list());
  const [window] = after.planLimits.list();
  assert.equal(window!.spared, { tokens: 70, requests: 1 });
  // 40 % used in an hour and a half.
  assert.is(Math.round(window!.usedPerHour! * 1000), 267);
  writeFileSync(file, '{"format":1,"windows":[1,{"provider":3}]}');
  assert.equal((await open()).planLimits.list(), []);
  assert.equal(failures, []);
  for (const text of ['', '{', '[]', '{"format":2}']) {
    writeFileSync(file, text);
    assert.equal((await open()).planLimits.list(), [], text);
    const [, aside] = /cannot be read: .*; it was moved to (.*)$/.exec(String(failures.pop()))!;
    assert.is(readFileSync(aside!, 'utf8'), text, 'no sample is lost');
  }
  rmSync(folder, { recursive: true });
  note(after.planLimits, '0.5', 'c');
  await after.flush();
  assert.is(failures.length, 1, 'a failed write is reported once per attempt');
});

test('implausible times and counts, in headers or in the file, are unknown', async () => {
  const reset = 'anthropic-ratelimit-unified-5h-reset';
  const used = { 'anthropic-ratelimit-unified-5h-utilization': '0.5' };
  await withProxy({}, async (t) => {
    state(t, { ...used, [reset]: '9999999999999' });
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is((await limits(t))[0]!.resets_at, null);
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-limits-'));
  const clock = createManualClock();
  const nowMs = clock.wallMs();
  const shown = async (window: object, more: object) => {
    const file = join(folder, 'limits.json');
    const one = { provider: 'p', key: 'k', samples: [{ atMs: nowMs, used: 0.5 }], ...more };
    const known = {
      ...one,
      window: { kind: 'plan', name: '5h', used: 0.5, minutes: 300, ...window },
    };
    writeFileSync(file, JSON.stringify({ format: 1, windows: [known] }));
    const onProblem = (thrown: unknown) => assert.unreachable(String(thrown));
    return limitsJson((await openPlanLimits({ file, clock, onProblem })).planLimits).limits[0];
  };
  for (const resetsAtMs of [1e18, 1e300, Number.MAX_SAFE_INTEGER])
    assert.is((await shown({ resetsAtMs }, {}))!.resets_at, null);
  for (const minutes of [1e18, -5, 0])
    assert.is((await shown({ minutes, resetsAtMs: nowMs + 1000 }, {}))!.used_per_hour, null);
  for (const atMs of [1e18, -1e300])
    assert.is(await shown({}, { samples: [{ atMs, used: 0.5 }] }), undefined);
  const spared = { tokens: 1e300, requests: -4 };
  assert.ok((await shown({}, { spared }))!.spared_tokens < 1e13);
  assert.is((await shown({}, { spared }))!.spared_requests, 0);
  rmSync(folder, { recursive: true });
});

test('alerts watch the fullest window and its remaining time', () =>
  withProxy({}, async (t) => {
    const { planLimits } = t.proxy.services;
    assert.equal(planFigures(planLimits, Date.now()), {
      planUsedPercent: null,
      planMinutesLeft: null,
    });
    state(t, five('0.9'));
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const { planUsedPercent, planMinutesLeft } = planFigures(planLimits, Date.now());
    assert.is(planUsedPercent, 90);
    // 90 % in two and a half hours: the last tenth takes some 17 minutes.
    assert.ok(planMinutesLeft! > 15 && planMinutesLeft! < 18, String(planMinutesLeft));
  }));

test.after(closeClients);
test.run();
