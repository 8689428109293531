import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../engine/index.ts';
import { systemClock } from '../../engine/index.ts';
import type { LedgerReader } from './tables.ts';
import { openLedgerReader } from './sqlite/database.ts';
import type { Totals } from './figures.ts';
import { addToTotals, emptyTotals } from './figures.ts';
import * as queries from './queries.ts';
import {
  byNameJson,
  lastJson,
  savingsJson,
  sessionJson,
  sessionSummaryJson,
  todayJson,
} from './report.ts';
import { recentJson } from './request-json.ts';
import type { LedgerRow } from './row.ts';
import { ledgerRow, MAX_TEXT_CHARS } from './row.ts';
import { createSessionWindow } from './window.ts';
import { ThreadedWriter } from './writer/threaded-writer.ts';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 10, 20, 12);

/** Writes the rows to a new ledger and passes a reader of it to `use`. */
async function withLedger<T>(
  rows: readonly LedgerRow[],
  use: (reader: LedgerReader) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'svc-figures-'));
  const file = path.join(folder, 'monitor.db');
  const writer = new ThreadedWriter({
    db: file,
    clock: systemClock,
    onProblem: (error) => assert.unreachable(error.message),
  });
  for (const row of rows) writer.record(row);
  await writer.close();
  const reader = openLedgerReader(file);
  try {
    return await use(reader);
  } finally {
    await reader.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowOf(n: number, more: Partial<LedgerRow> = {}): LedgerRow {
  return ledgerRow({
    id: `req_${n}`,
    startedMs: NOON + n,
    endpoint: '/v1/messages',
    outcome: 'ok',
    ...more,
  });
}

const count = fc.option(fc.nat(1_000_000));
const anyRow = fc.record({
  startedMs: fc.integer({ min: NOON - 9 * DAY_MS, max: NOON + DAY_MS }),
  outcome: fc.constantFrom<Outcome[]>('ok', 'error', 'cancelled', 'partial'),
  status: fc.option(fc.constantFrom(200, 400, 429, 503)),
  model: fc.option(fc.constantFrom('a', 'b', '__proto__')),
  provider: fc.option(fc.constantFrom('messages', 'chat')),
  stream: fc.boolean(),
  cacheHit: fc.boolean(),
  inputTokensRaw: count,
  inputTokensSent: count,
  savedTokens: count,
  addedTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  costNanoUsd: fc.option(fc.nat()),
  costSavedNanoUsd: fc.option(fc.nat()),
  breakpoints: fc.option(fc.integer({ min: 1, max: 4 })),
  costSavedByBreakpointsNanoUsd: fc.option(fc.integer()),
  forgottenTokens: fc.option(fc.nat()),
  costSavedByForgettingNanoUsd: fc.option(fc.nat()),
  longResultTokens: fc.option(fc.nat()),
  costSavedByLongResultsNanoUsd: fc.option(fc.nat()),
  toolTokens: fc.option(fc.nat()),
  costSavedByToolsNanoUsd: fc.option(fc.nat()),
  costAddedNanoUsd: fc.option(fc.nat()),
  // Quarters add up exactly in any order.
  latencyMs: fc.option(fc.nat(40_000).map((quarters) => quarters / 4)),
});

function sumUp(rows: readonly LedgerRow[]): Totals {
  const totals = emptyTotals();
  for (const each of rows) addToTotals(totals, each);
  return totals;
}

test('the file and the live window agree on every figure', async () => {
  const property = fc.asyncProperty(fc.array(anyRow, { maxLength: 80 }), async (facts) => {
    const rows = facts.map((fact, n) => rowOf(n, fact));
    const window = createSessionWindow(0);
    for (const each of rows) window.add(each);
    await withLedger(rows, async (reader) => {
      assert.equal(await queries.totalsOf(reader), window.totals());
      const byModel = await queries.totalsBy(reader, 'model');
      assert.is(byModel.length, window.byModel().size);
      for (const { key, ...totals } of byModel) {
        assert.equal(totals, window.byModel().get(key ?? 'unknown'));
      }
      for (const { key, ...totals } of await queries.totalsBy(reader, 'provider')) {
        assert.equal(totals, window.byProvider().get(key ?? 'unknown'));
      }
      const today = rows.filter((each) => each.startedMs >= NOON - DAY_MS / 2);
      assert.equal(await queries.totalsOfToday(reader, NOON), sumUp(today));
      // From the middle of one hour to the middle of another.
      const span = { sinceMs: NOON - 3 * DAY_MS + 1_234_567, untilMs: NOON - 7_654_321 };
      const within = rows.filter(
        ({ startedMs }) => startedMs >= span.sinceMs && startedMs < span.untilMs,
      );
      assert.equal(await queries.totalsOf(reader, span), sumUp(within));
      for (const { date, ...totals } of await queries.totalsByDay(reader)) {
        const ofDay = rows.filter((each) =>
          new Date(each.startedMs).toISOString().startsWith(date),
        );
        assert.equal(totals, sumUp(ofDay));
      }
    });
  });
  await fc.assert(property, { numRuns: 10 });
});

test('savings are listed by model with the largest first, cover seven days without a gap, and include the start time', async () => {
  const rows = [
    rowOf(1, {
      startedMs: NOON - 30 * DAY_MS,
      model: 'old',
      savedTokens: 5,
      costSavedNanoUsd: 1e9,
    }),
    rowOf(2, { startedMs: NOON - 6 * DAY_MS, model: 'a', savedTokens: 10, cacheReadTokens: 700 }),
    rowOf(3, { model: 'b', savedTokens: 90, costSavedNanoUsd: 250_000_000 }),
    rowOf(4, { model: null, savedTokens: null }),
  ];
  await withLedger(rows, async (reader) => {
    const all = savingsJson(await queries.savingsReport(reader, NOON));
    assert.is(all.total_requests, 4);
    assert.is(all.total_tokens_saved, 105);
    assert.is(all.total_cost_saved_usd, 1.25);
    assert.is(all.provider_cache_read_tokens, 700);
    assert.equal(Object.keys(all.savings_by_model), ['b', 'a', 'old', 'unknown']);
    assert.equal(
      Object.entries(all.savings_by_date_7d).map(([date, day]) => [date, day.tokens_saved]),
      [
        ['2026-11-14', 10],
        ['2026-11-15', 0],
        ['2026-11-16', 0],
        ['2026-11-17', 0],
        ['2026-11-18', 0],
        ['2026-11-19', 0],
        ['2026-11-20', 90],
      ],
    );
    const since = await queries.savingsReport(reader, NOON, NOON - 6 * DAY_MS);
    assert.is(since.totals.savedTokens, 100);
    const late = await queries.savingsReport(reader, NOON, NOON - DAY_MS);
    assert.equal(
      late.byDate7d.map(({ date, savedTokens }) => [date, savedTokens]),
      [
        ['2026-11-19', 0],
        ['2026-11-20', 90],
      ],
      'no day outside the totals',
    );
    assert.equal((await queries.savingsReport(reader, NOON, NOON + DAY_MS)).byDate7d, []);
  });
});

test('rows are returned in the order stored, between two of their numbers', async () => {
  const models = ['a', 'b', 'a', 'a'];
  const rows = models.map((model, n) => rowOf(9 - n, { model }));
  await withLedger(rows, async (reader) => {
    const upto = await queries.newestNumber(reader);
    const stored = async (after: number, more: Partial<queries.RowFilter> = {}, last = upto) =>
      (await queries.rowsStored(reader, { sinceMs: 0, ...more }, after, last)).map(({ id }) => id);
    assert.equal(await stored(upto - 4), ['req_9', 'req_8', 'req_7', 'req_6']);
    assert.equal(await stored(upto - 3, { model: 'a' }), ['req_7', 'req_6']);
    assert.equal(await stored(upto - 3, {}, upto - 1), ['req_8', 'req_7']);
    assert.equal(await stored(upto), []);
  });
  await withLedger([], async (reader) => assert.is(await queries.newestNumber(reader), 0));
});

test('the window keeps the newest 50 rows and percentiles of real latencies', () => {
  const window = createSessionWindow(NOON);
  assert.is(window.last(), undefined);
  assert.is(window.latency().p50Ms, null);
  for (let n = 1; n <= 3000; n += 1) window.add(rowOf(n, { latencyMs: n }));
  window.add(rowOf(3001, { latencyMs: null }));
  assert.is(window.recent().length, 50);
  assert.equal(
    window.recent(2).map((each) => each.id),
    ['req_3001', 'req_3000'],
  );
  assert.is(window.last()?.id, 'req_3001');
  // The newest 1024 latencies are 1977 … 3000.
  assert.equal(window.latency(), {
    p50Ms: 2488,
    p99Ms: 2990,
    samples: 1024,
  });
});

test('a client that invents models or long names cannot grow the window', () => {
  const window = createSessionWindow(NOON);
  for (let n = 0; n < 2000; n += 1) window.add(rowOf(n, { model: `m${n}` }));
  assert.is(window.byModel().size, 501);
  assert.is(window.byModel().get('(other)')?.requests, 1500);
  const long = rowOf(1, { model: 'x'.repeat(1e6), sessionId: 'é'.repeat(1e6) });
  assert.is(long.model?.length, MAX_TEXT_CHARS);
  assert.is(long.sessionId, 'é'.repeat(MAX_TEXT_CHARS));
});

test('a model named __proto__ is counted like any other', () => {
  const window = createSessionWindow(NOON);
  window.add(rowOf(1, { model: '__proto__', inputTokensRaw: 5, costNanoUsd: 2_000_000_000 }));
  const text = JSON.stringify(byNameJson(window.byModel()));
  assert.is(
    text,
    '{"__proto__":{"requests":1,"input_tokens":5,"saved_tokens":0,"output_tokens":0,"cost":2,"unpriced":0,"tokens_added":0,"cost_added":0,"net_tokens_saved":0,"net_cost_saved":0}}',
  );
  assert.is(({} as { requests?: number }).requests, undefined);
});

test('unmeasured figures are null in reports and not part of averages', () => {
  const window = createSessionWindow(NOON);
  assert.is(lastJson(window).error, 'no_requests');
  window.add(rowOf(1, { latencyMs: 10, inputTokensRaw: 200, savedTokens: 50 }));
  window.add(rowOf(2));
  assert.is(window.latency().samples, 1);
  assert.is(todayJson(window.totals()).avg_latency_ms, 10);
  assert.is(sessionSummaryJson(window, NOON + 3_600_000).avg_savings_pct, 25);
  assert.is(sessionSummaryJson(window, NOON + 3_600_000).uptime_hours, 1);
  const last = lastJson(window);
  assert.equal([last.tokens_saved, last.percent_saved, last.cost_saved], [null, null, null]);
  assert.is(recentJson(rowOf(1)).output_tokens, null);
  assert.not.ok('vault_injection' in recentJson(rowOf(1)));
  const injected = recentJson(
    rowOf(1, {
      chunksInjected: 1,
      tokensInjected: 8,
      addedTokens: 9,
      costAddedNanoUsd: 27_000,
      topChunks: ['k'],
    }),
  );
  assert.is(injected.net_tokens_saved, -9);
  assert.equal(injected.vault_injection, {
    chunks_injected: 1,
    tokens_injected: 8,
    tokens_added: 9,
    cost_added: 0.000027,
    top_chunks: ['k'],
  });
  assert.is(sessionJson(window).start_time, NOON / 1000);
});

test.run();
