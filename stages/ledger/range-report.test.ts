/** A range report compared with a recount of its rows, and how much of the file it reads. */
import { Database } from '../sqlite.ts';
import * as fc from 'fast-check';
import { createQueryId } from 'kysely';
import type { RootOperationNode } from 'kysely';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { folderForEach, rowOf } from '../../fixtures/ledger/temp-ledger.ts';
import { openReadOnly } from './sqlite/connection.ts';
import { openLedgerReader } from './sqlite/database.ts';
import { addToTotals, emptyTotals, roundedMs } from './figures.ts';
import type { Totals } from './figures.ts';
import { newestRows } from './queries.ts';
import { firstStartMs, rangeReport, sessionReports } from './range-report.ts';
import type { LedgerRow } from './row.ts';
import { isFailure } from './row.ts';
import type { RowFilter } from './sums.ts';

const files = folderForEach(test);
const DAY = Date.UTC(2026, 10, 20);
const MINUTE_MS = 60_000;

/** Returns the nearest-rank percentile by its definition, in hundredths; null without values. */
function percentileOf(rows: readonly LedgerRow[], percent: number): number | null {
  const values = rows.flatMap(({ latencyMs }) => latencyMs ?? []);
  const reaching = values.filter(
    (value) => values.filter((other) => other <= value).length * 100 >= percent * values.length,
  );
  return reaching.length === 0 ? null : roundedMs(Math.min(...reaching));
}

const spreadOf = (rows: readonly LedgerRow[]) => ({
  p50Ms: percentileOf(rows, 50),
  p95Ms: percentileOf(rows, 95),
  p99Ms: percentileOf(rows, 99),
});

function sumOf(rows: readonly LedgerRow[]): Totals {
  const totals = emptyTotals();
  for (const row of rows) addToTotals(totals, row);
  return totals;
}

/** Rounds sums of fractions, which depend on the order of addition. */
const exact = (totals: Totals): Totals => ({
  ...totals,
  latencySumMs: Number(totals.latencySumMs.toPrecision(12)),
});

const anyRow = fc.record({
  startedMs: fc.integer({ min: DAY, max: DAY + 600 * MINUTE_MS }),
  outcome: fc.constantFrom('ok' as const, 'error' as const, 'partial' as const),
  status: fc.option(fc.constantFrom(200, 429, 503)),
  provider: fc.option(fc.constantFrom('messages', 'chat')),
  model: fc.option(fc.constantFrom('Small-1', 'small-2', 'large')),
  keyLabel: fc.option(fc.constantFrom('anna', 'otto')),
  project: fc.option(fc.constantFrom('api', 'web')),
  attempts: fc.nat(3),
  thoughtsDropped: fc.option(fc.nat(3)),
  thoughtsRefused: fc.option(fc.constant(1)),
  sessionId: fc.option(fc.constantFrom('one', 'two', 'three', '__proto__')),
  client: fc.option(fc.constantFrom('aider', 'cline')),
  inputTokensRaw: fc.option(fc.nat(1e6)),
  chunksInjected: fc.option(fc.nat(3)),
  latencyMs: fc.option(fc.double({ min: 0, max: 1e5, noNaN: true })),
});

const FILTERS = [
  {},
  { provider: 'chat' },
  { failed: true },
  { client: 'aider' },
  { keyLabel: 'anna', project: 'api' },
  { model: 'SMALL' },
  { words: ['otto', 'SMALL'] },
] as const satisfies readonly Partial<RowFilter>[];

/** Tells by its definition whether a row matches a filter, whatever its time. */
function isMatching(row: LedgerRow, filter: Partial<RowFilter>): boolean {
  const { model = '', words = [], failed } = filter;
  const text = JSON.stringify(Object.values(row)).toLowerCase();
  return (
    (['provider', 'client', 'keyLabel', 'project'] as const).every(
      (key) => filter[key] === undefined || row[key] === filter[key],
    ) &&
    (row.model ?? '').toLowerCase().includes(model.toLowerCase()) &&
    words.every((word) => text.includes(word.toLowerCase())) &&
    (failed !== true || isFailure(row))
  );
}

/** Returns the sums by name, most requests first, and then by name with null first. */
function sumsByName(rows: readonly LedgerRow[], key: 'provider' | 'model' | 'client') {
  return [...new Set(rows.map((row) => row[key]))]
    .map((name) => ({
      key: name,
      ...exact(sumOf(rows.filter((row) => row[key] === name))),
    }))
    .toSorted((a, b) => b.requests - a.requests || ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
}

function attemptsOf(rows: readonly LedgerRow[]) {
  const sum = (of: (row: LedgerRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    failedAttempts: sum(({ outcome, attempts }) =>
      outcome === 'error' ? attempts : Math.max(0, attempts - 1),
    ),
    answeredLater: sum(({ outcome, attempts }) => Number(outcome === 'ok' && attempts > 1)),
    thoughtsDropped: sum((row) => row.thoughtsDropped ?? 0),
    thoughtsRefused: sum((row) => row.thoughtsRefused ?? 0),
  };
}

test('percentiles, steps, names, causes and conversations equal those of a recount', async () => {
  const { writer, file } = files.open();
  await writer.ready();
  const property = fc.asyncProperty(
    fc.array(anyRow, { minLength: 1, maxLength: 60 }),
    fc.constantFrom(7, 20, 60, 180),
    fc.constantFrom(...FILTERS),
    async (facts, minutes, more) => {
      const database = new Database(file);
      database.exec('DELETE FROM requests; DELETE FROM hours');
      database.close();
      const rows = facts.map((fact, n) => rowOf(n, fact));
      for (const row of rows) writer.record(row);
      await writer.flush();
      const filter = {
        sinceMs: DAY + 100 * MINUTE_MS + 1,
        untilMs: DAY + 500 * MINUTE_MS,
        ...more,
      };
      const within = rows.filter(
        (row) =>
          row.startedMs >= filter.sinceMs &&
          row.startedMs < filter.untilMs &&
          isMatching(row, more),
      );
      const reader = openLedgerReader(file);
      try {
        const stepMs = minutes * MINUTE_MS;
        const report = await rangeReport(reader, filter, stepMs);
        const samples = within.filter(({ latencyMs }) => latencyMs !== null).length;
        assert.equal(report.latency, { ...spreadOf(within), samples });
        assert.equal(exact(report.totals), exact(sumOf(within)));
        for (const [groups, key] of [
          [report.byProvider, 'provider'],
          [report.byModel, 'model'],
          [report.byClient, 'client'],
        ] as const)
          assert.equal(
            groups.map((group) => ({ ...group, ...exact(group) })),
            sumsByName(within, key),
          );
        assert.equal(report.attempts, attemptsOf(within));
        const steps = [...new Set(within.map(({ startedMs }) => Math.floor(startedMs / stepMs)))];
        assert.equal(
          report.buckets.map((bucket) => ({ ...bucket, totals: exact(bucket.totals) })),
          steps
            .toSorted((a, b) => a - b)
            .map((step) => {
              const rowsOfStep = within.filter(
                ({ startedMs: at }) => Math.floor(at / stepMs) === step,
              );
              return {
                startMs: step * stepMs,
                totals: exact(sumOf(rowsOfStep)),
                ...spreadOf(rowsOfStep),
              };
            }),
        );
        const failed = report.failures.reduce((sum, { requests }) => sum + requests, 0);
        assert.is(failed, within.filter(isFailure).length);
        assert.is(
          report.injections.requests,
          within.filter((row) => (row.chunksInjected ?? 0) > 0).length,
        );
        for (const { requests, lastMs, lastId, client, clients, ...cause } of report.failures) {
          const same = within.filter(
            (row) =>
              isFailure(row) &&
              row.status === cause.status &&
              row.errorKind === cause.errorKind &&
              row.errorCode === cause.errorCode &&
              row.provider === cause.provider,
          );
          assert.is(requests, same.length);
          const names = new Set(same.flatMap((row) => row.client ?? []));
          assert.is(clients, names.size);
          assert.is(client, names.size === 1 ? [...names][0] : null);
          assert.is(lastMs, Math.max(...same.map(({ startedMs }) => startedMs)));
          assert.ok(same.some(({ id, startedMs }) => id === lastId && startedMs === lastMs));
        }
        const startsMs = within.map(({ startedMs }) => startedMs);
        const firstMs = startsMs.length === 0 ? undefined : Math.min(...startsMs);
        assert.is(await firstStartMs(reader, filter), firstMs);
        const lastOf = (id: string): number =>
          Math.max(
            ...within.filter(({ sessionId }) => sessionId === id).map((row) => row.startedMs),
          );
        const sessions = [...new Set(within.flatMap(({ sessionId }) => sessionId ?? []))].toSorted(
          (a, b) => lastOf(b) - lastOf(a) || (a < b ? -1 : 1),
        );
        const reported = await sessionReports(reader, filter, 3);
        assert.equal(
          reported.map(({ sessionId, lastMs, totals }) => [sessionId, lastMs, totals.requests]),
          sessions
            .slice(0, 3)
            .map((id) => [
              id,
              lastOf(id),
              within.filter(({ sessionId }) => sessionId === id).length,
            ]),
        );
      } finally {
        await reader.destroy();
      }
    },
  );
  await fc.assert(property, { numRuns: 60 });
  await writer.close();
});

test('the rows of a report are found without reading every row', async () => {
  const { writer, file } = files.open();
  for (let n = 0; n < 50; n += 1) writer.record(rowOf(n, { latencyMs: n, sessionId: 'one' }));
  await writer.close();
  const database = new Database(file, { readonly: true });
  const planOf = (sql: string): string =>
    (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join('; ');
  const failed = `(outcome IN ('error', 'partial') OR coalesce(status, 0) >= 400)`;
  const cases = [
    [
      'sum(latency_ms)',
      'started_ms >= 5 AND latency_ms IS NOT NULL',
      'COVERING INDEX requests_timed',
    ],
    ['id', `started_ms >= 5 AND ${failed}`, 'INDEX requests_failed'],
    ['id', 'started_ms >= 5 AND chunks_injected > 0', 'INDEX requests_injected'],
    ['id', `session_id = 'one'`, 'INDEX requests_of_session'],
    ['min(started_ms)', '1', 'COVERING INDEX requests_timed'],
  ] as const;
  for (const [what, where, index] of cases)
    assert.ok(
      planOf(`SELECT ${what} FROM requests WHERE ${where}`).includes(index),
      `${where}: ${planOf(`SELECT ${what} FROM requests WHERE ${where}`)}`,
    );
  database.close();
});

test('the queries of a report use the indexes, with bound parameters', async () => {
  const { writer, file } = files.open();
  for (let n = 0; n < 50; n += 1)
    writer.record(rowOf(n, { latencyMs: n, sessionId: 'one', chunksInjected: 1 }));
  await writer.close();
  const queries: RootOperationNode[] = [];
  const reader = openLedgerReader(file);
  const watched = reader.withPlugin({
    transformQuery({ node }) {
      queries.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const filter = { sinceMs: DAY + 5 };
  await rangeReport(watched, filter, MINUTE_MS);
  await sessionReports(watched, filter, 3);
  await newestRows(watched, { ...filter, sessionId: 'one' }, 10);
  await newestRows(watched, { ...filter, failed: true }, 10);
  const database = openReadOnly(file);
  const plans = queries.map((node) => {
    const { sql, parameters } = reader.getExecutor().compileQuery(node, createQueryId());
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters);
    return (steps as { detail: string }[]).map(({ detail }) => detail).join('; ');
  });
  database.close();
  await reader.destroy();
  const count = (index: string): number => plans.filter((plan) => plan.includes(index)).length;
  const all = plans.join('\n');
  assert.ok(count('COVERING INDEX requests_timed') > 0, all);
  assert.is(count('INDEX requests_failed'), 2, all);
  assert.is(count('INDEX requests_injected'), 2, all);
  assert.ok(count('INDEX requests_of_session') >= 2, all);
  for (const plan of plans) assert.not.match(plan, /SCAN requests(?! USING)/);
});

test.run();
