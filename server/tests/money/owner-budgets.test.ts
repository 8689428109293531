/**
 * Daily and monthly budgets of the proxy, a key and a project: refusals with 402, and restored
 * after a restart.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../../fixtures/wait.ts';
import { createManualClock, systemClock } from '../../../engine/clock.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { SpendingGuard } from '../../../stages/budget/guard.ts';
import { openKeyStore } from '../../auth/auth.ts';
import type { KeyLimits } from '../../auth/auth.ts';
import { askLedger } from '../../control/ledger-questions.ts';
import { spentBefore } from '../../facts/spending.ts';

/** Ten dollars per input token; output costs nothing. */
const PRICES = `providers:
  messages:
    pricing: { input_cost_per_1m_tokens: 10000000, output_cost_per_1m_tokens: 0 }
`;
const TURN = { ...MESSAGE, messages: [{ role: 'user', content: 'x'.repeat(360) }] };

const OFF = {
  enabled: false,
  perRequestNanoUsd: null,
  perSessionNanoUsd: null,
  perDayNanoUsd: null,
  perMonthNanoUsd: null,
  perDayTokens: null,
  projects: new Map(),
  warnPercent: 80,
};

function keyWith(t: TestProxy, label: string, limits: KeyLimits = {}): string {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return store.create({ label, ...limits }).key;
}

async function ask(t: TestProxy, headers: Readonly<Record<string, string>>) {
  const { status, text } = await exchange(t.proxy.port, { headers, body: json(TURN) });
  const { error } = JSON.parse(text) as { error?: { type: string; message: string } };
  return { status, message: error?.message ?? '', type: error?.type };
}

/** Returns the actual cost of one request in dollars: the proxy's first, with its own key. */
async function costOfOne(t: TestProxy): Promise<number> {
  const key = keyWith(t, 'measure');
  assert.is((await ask(t, { 'x-svc-key': key })).status, 200);
  const [row] = await t.rows(1);
  return row!.costNanoUsd! / 1e9;
}

test('the limit of a key applies with the guard off, and the refusal says until when', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    const anna = keyWith(t, 'anna', { perDayUsd: 5000, perMonthUsd: 1e6 });
    const ben = keyWith(t, 'ben');
    const requestUsd = await costOfOne(t);
    assert.ok(requestUsd > 0 && requestUsd < 5000, `${requestUsd}`);
    let passed = 0;
    let refused = await ask(t, { 'x-svc-key': anna });
    for (; refused.status === 200 && passed < 5000; passed += 1)
      refused = await ask(t, { 'x-svc-key': anna });
    assert.is(refused.status, 402);
    assert.is(refused.type, 'spending_limit');
    assert.match(refused.message, "Spending limit of $5000.00 per day of the key 'anna' reached");
    const tomorrow = new Date(Math.floor(Date.now() / 86_400_000 + 1) * 86_400_000).toISOString();
    assert.match(refused.message, `It resets at ${tomorrow.slice(0, 10)} 00:00 UTC`);
    assert.ok(passed >= 1 && passed * requestUsd <= 5000, `${passed} of $${requestUsd}`);
    // Other keys still work, and so do requests without a key.
    assert.is((await ask(t, { 'x-svc-key': ben })).status, 200);
    assert.is((await ask(t, {})).status, 200);
    const rows = await t.rows(passed + 4);
    assert.is(rows.filter((row) => row.keyLabel === 'anna' && row.status === 402).length, 1);
  }));

test('an alert sees the tightest limit of keys and projects', () =>
  withProxy(
    { yaml: `${PRICES}budget: { enabled: true, projects: { shop: { per_month_usd: 1000000 } } }` },
    async (t) => {
      const { spending } = t.proxy.services;
      assert.is(spending.ownersUsedPercent(), 0, 'nothing is charged to the project');
      const requestUsd = await costOfOne(t);
      const anna = keyWith(t, 'anna', {
        perDayUsd: requestUsd * 4,
        perMonthUsd: requestUsd * 1000,
      });
      // Until the proxy has read the key, which may take a second, the request has no owner.
      const isAnna = async () => {
        await ask(t, { 'x-svc-key': anna, 'x-svc-project': 'shop' });
        return spending.accountOf('key', 'anna', 'day').spent > 0;
      };
      await until('the key is known', isAnna);
      // The project's limit of a million dollars is far away, and so is anna's monthly limit.
      await until('it is what anna has used of her day', () => {
        const { spent, held } = spending.accountOf('key', 'anna', 'day');
        const percent = (100 * (spent + held)) / (requestUsd * 4e9);
        return percent >= 25 && Math.abs(spending.ownersUsedPercent()! - percent) < 1e-6;
      });
    },
  ));

test('concurrent requests together cannot pass the last dollars of a key', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    const requestUsd = await costOfOne(t);
    const limit = requestUsd * 10;
    const anna = keyWith(t, 'anna', { perMonthUsd: limit });
    // A key made now is known within a second of use.
    const untilMs = Date.now() + 60_000;
    const remote = { 'x-forwarded-for': '10.1.2.3', 'x-svc-key': anna };
    while ((await ask(t, remote)).status === 401 && Date.now() < untilMs);
    const all = await Promise.all(Array.from({ length: 60 }, () => ask(t, remote)));
    const passed = all.filter(({ status }) => status === 200).length;
    assert.ok(passed >= 1, `${passed} passed`);
    assert.ok(all.every(({ status }) => status === 200 || status === 402));
    const rows = await t.rows(62);
    const spent = rows
      .filter((row) => row.keyLabel === 'anna')
      .reduce((sum, row) => sum + (row.costNanoUsd ?? 0), 0);
    assert.ok(spent <= limit * 1e9, `${spent}`);
    assert.is(t.proxy.services.spending.accountOf('key', 'anna', 'month').spent, spent);
    assert.is(t.proxy.services.spending.accountOf('key', 'anna', 'month').held, 0);
  }));

test('limits apply to a month of the proxy, and to a day and a month of a project', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    const requestUsd = await costOfOne(t);
    const limits = (text: string) => `${PRICES}budget: { enabled: true, ${text} }\n`;
    t.configure(limits(`projects: { shop: { per_month_usd: ${requestUsd * 2.9} } }`));
    await t.proxy.reload();
    const shop = { 'x-svc-project': 'shop' };
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await ask(t, shop)).status);
    assert.is(statuses[0], 200);
    assert.is(statuses.at(-1), 402);
    assert.match((await ask(t, shop)).message, /per month of the project 'shop' reached/);
    assert.is((await ask(t, { 'x-svc-project': 'web' })).status, 200);
    t.configure(limits('per_month_usd: 1'));
    await t.proxy.reload();
    assert.match((await ask(t, {})).message, 'Spending limit of $1.00 per month reached');
    const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
    const { budget } = JSON.parse(text) as { budget: Record<string, number> };
    assert.ok(budget['spent_month_usd']! >= requestUsd, text);
  }));

test('the guard knows a project of any length by the name in its rows', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    await ask(t, { 'x-svc-project': 'p'.repeat(9000) });
    const [row] = await t.rows(1);
    const { spent } = t.proxy.services.spending.accountOf('project', row!.project!, 'day');
    assert.is(spent, row!.costNanoUsd);
    assert.ok(spent > 0);
  }));

test('a start reads what keys and projects have spent in this day and month', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    const anna = keyWith(t, 'anna', { project: 'shop' });
    for (let n = 0; n < 3; n += 1) await ask(t, { 'x-svc-key': anna });
    await ask(t, { 'x-svc-project': 'web' });
    const rows = await t.rows(4);
    const before = t.proxy.services.spending;
    const nowMs = rows.at(-1)!.startedMs + 1;
    const clock = createManualClock(nowMs);
    const questions = askLedger(t.db);
    const guard = new SpendingGuard(OFF, clock);
    guard.recallFrom(() => spentBefore(questions, clock, nowMs));
    await guard.recall();
    await questions.close();
    for (const [owner, name] of [
      ['proxy', ''],
      ['key', 'anna'],
      ['project', 'shop'],
      ['project', 'web'],
    ] as const)
      for (const period of ['day', 'month'] as const) {
        if (owner === 'proxy' && period === 'day') continue;
        const { spent } = guard.accountOf(owner, name, period);
        assert.ok(spent > 0, `${owner} ${name} ${period}`);
        assert.is(spent, before.accountOf(owner, name, period).spent, `${owner} ${name} ${period}`);
      }
    // Tomorrow only the month's spending counts, and next month none.
    const day = new Date(nowMs);
    const next = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
    clock.advance(next - nowMs);
    assert.is(guard.accountOf('key', 'anna', 'month').spent, 0);
    assert.is(guard.accountOf('key', 'anna', 'day').spent, 0);
  }));

test('from four fifths of a limit on, the trace of every request says so', () =>
  withProxy({ yaml: PRICES }, async (t) => {
    const poor = keyWith(t, 'poor', { perDayUsd: 0 });
    const { message } = await ask(t, { 'x-svc-key': poor });
    const estimate = Number(/estimated at \$([\d.]+)/.exec(message)?.[1]);
    assert.ok(estimate > 0, message);
    const keys = {
      anna: keyWith(t, 'anna', { perDayUsd: estimate * 2 }),
      ben: keyWith(t, 'ben', { perDayUsd: estimate * 1.2 }),
    };
    const remote = (key: string) => ({ 'x-forwarded-for': '10.1.2.3', 'x-svc-key': key });
    // Requests that the gate refuses, while it does not know the keys yet, leave no row.
    for (const key of Object.values(keys)) {
      const untilMs = Date.now() + 60_000;
      let response = await ask(t, remote(key));
      while (response.status === 401 && Date.now() < untilMs) response = await ask(t, remote(key));
      assert.is(response.status, 200, response.message);
    }
    const rows = await t.rows(3);
    const traceOf = async (label: string) => {
      const { id } = rows.find((row) => row.keyLabel === label)!;
      return (await exchange(t.proxy.port, { method: 'GET', path: `/trace/${id}` })).text;
    };
    assert.not.match(await traceOf('anna'), 'key_day');
    assert.match(await traceOf('ben'), 'key_day of ben: $0.0000 of');
  }));

test.after(closeClients);
test.run();
