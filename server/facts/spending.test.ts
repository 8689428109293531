import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { createManualClock } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { SpendingGuard } from '../../stages/budget/guard.ts';
import { askLedger } from '../control/ledger-questions.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import { spentBefore } from './spending.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

/** At ten dollars per token nearly any request exceeds a limit of a few dollars. */
const priced = (limits: string): string => `providers:
  messages:
    pricing: { input_cost_per_1m_tokens: 10000000, output_cost_per_1m_tokens: 0 }
budget: { enabled: true, ${limits} }
`;

const TURN = { ...MESSAGE, messages: [{ role: 'user', content: 'x'.repeat(360) }] };

async function send(t: TestProxy, headers: Record<string, string> = {}) {
  const response = await exchange(t.proxy.port, { body: json(TURN), headers });
  const { error } = JSON.parse(response.text) as { error?: { type: string; message: string } };
  return { status: response.status, error };
}

async function budget(t: TestProxy): Promise<Record<string, unknown>> {
  const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
  return (JSON.parse(text) as { budget: Record<string, unknown> }).budget;
}

test('refuses a request above its limit with 402, unless it is allowed once', () =>
  withProxy({ yaml: priced('per_request_usd: 100') }, async (t) => {
    const refused = await send(t);
    assert.is(refused.status, 402);
    assert.is(refused.error?.type, 'spending_limit');
    assert.match(refused.error?.message ?? '', /\$100\.00 per request.*x-svc-allow-spend: once/);
    assert.is(t.upstream.requests.length, 0);
    assert.is((await send(t, { 'x-svc-allow-spend': 'once' })).status, 200);
    assert.is((await send(t, { 'x-svc-allow-spend': 'always' })).status, 402);
    t.proxy.services.spending.allowNext();
    assert.equal([(await send(t)).status, (await send(t)).status], [200, 402]);
    const rows = await t.rows(5);
    assert.equal(
      rows.map((row) => row.status),
      [402, 200, 402, 200, 402],
    );
    assert.equal(
      rows.map((row) => row.attempts),
      [0, 1, 0, 1, 0],
    );
  }));

test('counts the real cost of a request, and nothing for a failed one', () =>
  withProxy({ yaml: priced('per_day_usd: 1000000') }, async (t) => {
    const stop = t.upstream.script(undefined, '400');
    await send(t);
    stop();
    await t.rows(1);
    const { spending } = t.proxy.services;
    assert.equal([spending.view().spentTodayNanoUsd, spending.view().heldNanoUsd], [0, 0]);
    await send(t);
    const [, row] = await t.rows(2);
    assert.ok(row?.costNanoUsd);
    assert.equal(
      [spending.view().spentTodayNanoUsd, spending.view().heldNanoUsd],
      [row.costNanoUsd, 0],
    );
    const printed = await budget(t);
    assert.is(printed['spent_usd'], row.costNanoUsd / 1e9);
    assert.is(printed['enabled'], true);
  }));

test('a request abandoned by its client releases its reservation', () =>
  withProxy({ yaml: priced('per_day_usd: 1000000') }, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    const leave = new AbortController();
    const response = exchange(t.proxy.port, { body: json(TURN), signal: leave.signal });
    await t.upstream.nextRequest();
    assert.ok(t.proxy.services.spending.view().heldNanoUsd > 0);
    leave.abort();
    await response.catch(() => undefined);
    await t.rows(1);
    assert.is(t.proxy.services.spending.view().heldNanoUsd, 0);
  }));

test('an exhausted session refuses its requests, but not those of other sessions', () =>
  withProxy({ yaml: priced('per_session_usd: 1200') }, async (t) => {
    const headers = { 'x-session-id': 'one' };
    const { spending } = t.proxy.services;
    spending.reserve({ estimateNanoUsd: 1000e9, session: 'one' });
    assert.is((await send(t, headers)).status, 402);
    assert.is((await send(t, { 'x-session-id': 'two' })).status, 200);
  }));

test('counts the tokens of the day if no price is known', () =>
  withProxy({ yaml: 'budget: { enabled: true, total_tokens: 5000 }\n' }, async (t) => {
    const { spending } = t.proxy.services;
    const unknown = { body: json(TURN, { model: 'nobody-knows-it' }) };
    assert.is((await exchange(t.proxy.port, unknown)).status, 200);
    await t.rows(1);
    assert.ok(spending.view().tokensToday > 0);
    assert.is(spending.view().unpriced, 1);
    spending.count(0, 5000);
    const over = await exchange(t.proxy.port, unknown);
    assert.is(over.status, 402);
    assert.match(over.text, '5,000 tokens per day');
  }));

test('refuses nothing while the guard is off, and turning it on includes earlier spending', () =>
  withProxy({ yaml: priced('per_day_usd: 1').replace('true', 'false') }, async (t) => {
    assert.is((await send(t)).status, 200);
    await t.rows(1);
    assert.ok(t.proxy.services.spending.view().spentTodayNanoUsd > 0);
    t.configure(priced('per_day_usd: 1'));
    await t.proxy.reload();
    assert.is((await send(t)).status, 402);
  }));

test('a refusal is not cached for the next request, and a cached response costs nothing', () =>
  withProxy({ yaml: `${priced('per_request_usd: 100')}cache: { enabled: true }\n` }, async (t) => {
    const headers = { 'x-svc-cache': 'on' };
    assert.is((await send(t, headers)).status, 402);
    const once = { ...headers, 'x-svc-allow-spend': 'once' };
    assert.is((await send(t, once)).status, 200);
    assert.is((await send(t, headers)).status, 200, 'a kept answer costs nothing');
  }));

test('a nearly exhausted limit lets the request pass with a warning in the trace', () =>
  withProxy({ yaml: priced('per_request_usd: 100000, warn_percent: 1') }, async (t) => {
    const { headers, status } = await exchange(t.proxy.port, { body: json(TURN) });
    assert.is(status, 200);
    await t.rows(1);
    const path = `/trace/${headers['x-request-id'] as string}`;
    const trace = await exchange(t.proxy.port, { path, method: 'GET' });
    assert.match(trace.text, 'request: $0.0000 of $100000.00 used before');
    assert.is(t.proxy.services.spending.view().warned, 1);
  }));

const CHAT_PRICES = `providers:
  chat:
    pricing: { input_cost_per_1m_tokens: 1000000, output_cost_per_1m_tokens: 1000000 }
budget: { enabled: true, per_day_usd: 500 }
`;

/** Posts `body` to the proxy; returns the status. */
async function post(t: TestProxy, path: string, body: object): Promise<number> {
  const headers = { authorization: 'Bearer k' };
  return (await exchange(t.proxy.port, { path, body: JSON.stringify(body), headers })).status;
}

test('every priced request is estimated, reserved and refused, embeddings and legacy completions included', () =>
  withProxy({ yaml: CHAT_PRICES }, async (t) => {
    const { spending } = t.proxy.services;
    const long = 'x'.repeat(3_600);
    const tooMuch: [string, object][] = [
      ['/v1/embeddings', { model: 'emb', input: long }],
      ['/v1/embeddings', { model: 'emb', input: [long, 'x'] }],
      ['/v1/embeddings', { model: 'emb', input: Array.from({ length: 600 }, (_, at) => at) }],
      ['/v1/embeddings', { model: 'emb', input: [Array.from({ length: 600 }, (_, at) => at)] }],
      ['/v1/completions', { model: 'gpt', prompt: long, max_tokens: 1 }],
      ['/v1/completions', { model: 'gpt', prompt: 'x', max_tokens: 600 }],
      ['/v1/responses/compact', { model: 'gpt', input: long, max_output_tokens: 1 }],
    ];
    for (const [path, body] of tooMuch) assert.is(await post(t, path, body), 402, path);
    assert.is(t.upstream.requests.length, 0);
    assert.is(await post(t, '/v1/embeddings', { model: 'emb', input: 'x'.repeat(720) }), 200);
    const [row] = (await t.rows(tooMuch.length + 1)).slice(-1);
    assert.ok(row?.costNanoUsd);
    assert.equal(
      [spending.view().spentTodayNanoUsd, spending.view().heldNanoUsd],
      [row.costNanoUsd, 0],
    );
    assert.is(spending.view().tokensToday, row.inputTokensSent);
  }));

test('an exhausted day refuses requests without an estimate, and admits free ones', () =>
  withProxy({ yaml: CHAT_PRICES }, async (t) => {
    t.proxy.services.spending.count(501e9, 0);
    assert.is(await post(t, '/v1/embeddings', { model: 'emb', input: 'x' }), 402);
    assert.is(await post(t, '/v1/images/generations', { model: 'gpt-image-1', prompt: 'x' }), 402);
    assert.is(await post(t, '/v1/files', { purpose: 'batch' }), 200);
    for (const path of ['/v1/models', '/v1/batches']) {
      const response = await exchange(t.proxy.port, { path, method: 'GET' });
      assert.is.not(response.status, 402, path);
    }
  }));

test('after a restart every kind of request counts as it did before', () =>
  withProxy(
    { yaml: `${CHAT_PRICES.replace('500', '1000000')}cache: { enabled: true }\n` },
    async (t) => {
      const chat = { model: 'gpt', temperature: 0, messages: [{ role: 'user', content: 'hi' }] };
      await post(t, '/v1/embeddings', { model: 'emb', input: 'some words' });
      await post(t, '/v1/chat/completions', chat);
      await t.rows(2);
      await post(t, '/v1/chat/completions', chat);
      const stop = t.upstream.script(undefined, '400');
      await post(t, '/v1/embeddings', { model: 'emb', input: 'fails' });
      stop();
      const rows = await t.rows(4);
      assert.is(rows.filter((row) => row.cacheHit).length, 1);
      const counted = t.proxy.services.spending.view();
      const clock = createManualClock(rows.at(-1)!.startedMs + 1);
      const questions = askLedger(t.db);
      const guard = new SpendingGuard(UNLIMITED, clock);
      await recallFrom(guard, questions, clock, rows.at(-1)!.startedMs + 1);
      await questions.close();
      assert.ok(counted.spentTodayNanoUsd > 0);
      assert.equal(
        [guard.view().spentTodayNanoUsd, guard.view().tokensToday],
        [counted.spentTodayNanoUsd, counted.tokensToday],
      );
    },
  ));

/** Recalls past spending as a start does, on the test's own guard. */
async function recallFrom(
  guard: SpendingGuard,
  questions: LedgerQuestions,
  clock: Clock,
  startedMs: number,
): Promise<void> {
  guard.recallFrom(() => spentBefore(questions, clock, startedMs));
  await guard.recall();
}

const UNLIMITED = {
  enabled: true,
  perRequestNanoUsd: null,
  perSessionNanoUsd: null,
  perDayNanoUsd: null,
  perMonthNanoUsd: null,
  projects: new Map(),
  perDayTokens: null,
  warnPercent: 80,
};

test('a start counts what was spent earlier on the same day, and nothing else', () =>
  withProxy({ yaml: priced('per_day_usd: 1000000') }, async (t) => {
    await send(t);
    const [row] = await t.rows(1);
    const clock = createManualClock(row!.startedMs + 1);
    const questions = askLedger(t.db);
    const spentAt = async (startedMs: number): Promise<number> => {
      const guard = new SpendingGuard(UNLIMITED, clock);
      await recallFrom(guard, questions, clock, startedMs);
      return guard.view().spentTodayNanoUsd;
    };
    assert.is(await spentAt(row!.startedMs + 1), row?.costNanoUsd);
    assert.is(await spentAt(row!.startedMs), 0);
    await questions.close();
  }));

test('a session keeps its cost across a restart', () =>
  withProxy({ yaml: priced('per_session_usd: 1000000') }, async (t) => {
    for (const session of ['s-1', 's-1', 's-2']) await send(t, { 'session-id': session });
    await send(t);
    const rows = await t.rows(4);
    const costs = rows.map((row) => row.costNanoUsd!);
    const questions = askLedger(t.db);
    const limit = costs[0]! + costs[1]!;
    const guard = new SpendingGuard(
      { ...UNLIMITED, perSessionNanoUsd: limit },
      t.proxy.services.clock,
    );
    await recallFrom(guard, questions, t.proxy.services.clock, rows[3]!.startedMs + 1);
    await questions.close();
    const leftOf = (session: string, estimateNanoUsd: number) =>
      guard.check({ session, estimateNanoUsd }).verdict !== 'blocked';
    assert.equal([leftOf('s-1', 0), leftOf('s-1', 1)], [true, false]);
    assert.equal([leftOf('s-2', limit - costs[2]!), leftOf('s-2', limit)], [true, false]);
    assert.ok(leftOf('s-3', limit));
  }));

test('after a restart no request passes a limit that was exhausted before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-spending-'));
  const env = { SVC_DB: join(folder, 'monitor.db') };
  try {
    await withProxy({ yaml: priced('per_day_usd: 1000000'), env }, async (t) => {
      assert.is((await send(t)).status, 200);
      await t.rows(1);
    });
    for (const limit of ['per_day_usd: 1', 'total_tokens: 1'])
      await withProxy({ yaml: priced(limit), env }, async (t) => {
        const responses = await Promise.all(Array.from({ length: 6 }, () => send(t)));
        assert.equal(
          responses.map((response) => response.status),
          Array.from({ length: 6 }, () => 402),
          limit,
        );
        assert.is(t.upstream.requests.length, 0);
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('requests wait until earlier spending has been read, however long it takes', () =>
  withProxy({ yaml: priced('per_day_usd: 1000000') }, async (t) => {
    const { spending, clock } = t.proxy.services;
    let finish = (): void => undefined;
    const read = new Promise<void>((resolve) => (finish = resolve));
    const dayMs = Math.floor(clock.wallMs() / 86_400_000) * 86_400_000;
    const before = { dayMs, costNanoUsd: 1e15, tokens: 0, owners: [], sessions: [] };
    spending.recallFrom(() => read.then(() => before));
    const sent = Promise.all(Array.from({ length: 6 }, () => send(t)));
    const first = await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 200))]);
    assert.is(first, undefined, 'one request was served before the limit was known');
    finish();
    assert.equal(
      (await sent).map((response) => response.status),
      Array.from({ length: 6 }, () => 402),
    );
    assert.is(t.upstream.requests.length, 0);
  }));

test('refuses requests while earlier spending cannot be read', () =>
  withProxy({ yaml: priced('per_day_usd: 1000000').replace('true', 'false') }, async (t) => {
    const kept = `${t.db}.kept`;
    renameSync(t.db, kept);
    writeFileSync(t.db, 'no ledger at all');
    t.configure(priced('per_day_usd: 1000000'));
    await t.proxy.reload();
    const refused = await send(t);
    assert.is(refused.status, 503);
    assert.match(refused.error?.message ?? '', /cannot be read.*is not a ledger of svc/);
    assert.is(t.upstream.requests.length, 0);
    assert.is((await send(t, { 'x-svc-allow-spend': 'once' })).status, 200);
    const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
    const health = JSON.parse(text) as { status: string; reasons: string[] };
    assert.is(health.status, 'degraded');
    assert.match(health.reasons.join(), /budget: .*is not a ledger of svc/);
    t.configure(priced('per_request_usd: 1000000'));
    await t.proxy.reload();
    assert.is((await send(t)).status, 200, 'a limit per request does not need earlier spending');
    t.configure(priced('per_day_usd: 1000000'));
    await t.proxy.reload();
    renameSync(kept, t.db);
    const untilMs = Date.now() + 120_000;
    let { status } = await send(t);
    while (status !== 200 && Date.now() < untilMs) ({ status } = await send(t));
    assert.is(status, 200);
  }));

test.after(closeClients);
test.run();
