/** Reports that share a memory equal reports without one, whatever happens to the ledger between. */
import { rmSync } from 'node:fs';
import { Database } from '../../sqlite.ts';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { folderForEach, openIn, rowOf } from '../../../fixtures/ledger/temp-ledger.ts';
import { openLedgerReader } from '../sqlite/database.ts';
import { firstStartMs, rangeReport } from '../range-report.ts';
import type { RangeReport } from '../range-report.ts';
import type { RowFilter } from '../sums.ts';
import { HOUR_MS } from '../hours.ts';
import { RangeMemory } from './range-memory.ts';
import { DAY_MS, MINUTE_MS } from './units.ts';

const files = folderForEach(test);
const DAY = Date.UTC(2026, 10, 20);

/** Quarters add up exactly in any order. */
const anyRow = fc.record({
  startedMs: fc.integer({ min: DAY, max: DAY + 2 * DAY_MS }),
  outcome: fc.constantFrom('ok' as const, 'error' as const, 'partial' as const),
  status: fc.option(fc.constantFrom(200, 429, 503)),
  provider: fc.option(fc.constantFrom('messages', 'chat')),
  model: fc.option(fc.constantFrom('one', 'two')),
  client: fc.option(fc.constantFrom('a', 'b')),
  project: fc.option(fc.constantFrom('api', 'web')),
  keyLabel: fc.option(fc.constantFrom('anna', 'otto')),
  inputTokensRaw: fc.option(fc.nat(1e6)),
  costNanoUsd: fc.option(fc.nat(1e9)),
  chunksInjected: fc.option(fc.nat(3)),
  topChunks: fc.option(fc.constantFrom(['x'], ['x', 'y'])),
  attempts: fc.nat(3),
  thoughtsDropped: fc.option(fc.nat(2)),
  latencyMs: fc.option(fc.nat(400_000).map((quarters) => quarters / 4)),
});

const FILTERS: readonly Partial<RowFilter>[] = [
  {},
  { provider: 'chat' },
  { client: 'a', project: 'api' },
  { keyLabel: 'anna' },
  { model: 'on' },
  { failed: true },
  { words: ['chat'] },
];
const anyStep = {
  rows: fc.array(anyRow, { maxLength: 25 }),
  /** Deletes what began before this, in thousandths of the time that rows cover. */
  pruned: fc.option(fc.nat(700), { freq: 3 }),
  since: fc.option(fc.nat(1000)),
  until: fc.option(fc.nat(1000)),
  filter: fc.constantFrom(...FILTERS),
  stepMs: fc.constantFrom(90_000, 7 * MINUTE_MS, 20 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS),
};

const timeOf = (thousandths: number): number => DAY + 2 * DAY_MS * (thousandths / 1000) + 1;

async function reportOf(
  file: string,
  filter: RowFilter,
  stepMs: number,
  memory: RangeMemory,
): Promise<readonly [RangeReport, number | undefined]> {
  const reader = openLedgerReader(file);
  try {
    return [
      await rangeReport(reader, filter, stepMs, memory),
      await firstStartMs(reader, filter, memory),
    ];
  } finally {
    await reader.destroy();
  }
}

test('reports with a memory are those without one, as rows are added and deleted', async () => {
  const { writer, file } = files.open();
  await writer.ready();
  let number = 0;
  const property = fc.asyncProperty(
    fc.array(fc.record(anyStep), { minLength: 1, maxLength: 8 }),
    async (steps) => {
      const database = new Database(file);
      database.exec('DELETE FROM requests; DELETE FROM hours');
      database.close();
      const memory = new RangeMemory();
      for (const { rows, pruned, since, until, filter: more, stepMs } of steps) {
        for (const row of rows) writer.record(rowOf((number += 1), row));
        await writer.flush();
        if (pruned !== null) await writer.prune(timeOf(pruned));
        const filter = {
          sinceMs: since === null ? 0 : timeOf(since),
          ...(until !== null && { untilMs: timeOf(until) }),
          ...more,
        };
        const [report, firstMs] = await reportOf(file, filter, stepMs, memory);
        const [fresh, freshFirstMs] = await reportOf(file, filter, stepMs, new RangeMemory());
        assert.equal(report, fresh);
        assert.is(firstMs, freshFirstMs);
      }
    },
  );
  // Each run opens the file again and again, which makes shrinking slow.
  await fc.assert(property, { numRuns: 40, endOnFailure: true });
  await writer.close();
});

test('a request that was stored and deleted between two reports still counts', async () => {
  const { writer, file } = files.open();
  const add = async (number: number, hour: number): Promise<void> => {
    writer.record(rowOf(number, { startedMs: DAY + hour * HOUR_MS }));
    await writer.flush();
    await writer.prune(DAY + 3 * HOUR_MS);
  };
  const memory = new RangeMemory();
  const requestsOf = async () =>
    (await reportOf(file, { sinceMs: 0 }, HOUR_MS, memory))[0].totals.requests;
  await add(1, 2);
  await add(2, 10);
  assert.is(await requestsOf(), 2);
  await add(3, 2);
  assert.is(await requestsOf(), 3);
  await writer.close();
});

test('another file at the same path, or one whose rows were renumbered, is read as a whole', async () => {
  const first = files.open();
  for (let n = 0; n < 20; n += 1) first.writer.record(rowOf(n, { latencyMs: n }));
  await first.writer.close();
  const memory = new RangeMemory();
  const latencyOf = async () =>
    (await reportOf(first.file, { sinceMs: 0 }, HOUR_MS, memory))[0].latency;
  assert.equal(await latencyOf(), { p50Ms: 9, p95Ms: 18, p99Ms: 19, samples: 20 });
  const database = new Database(first.file);
  database.exec('DELETE FROM requests WHERE latency_ms < 10; VACUUM');
  database.close();
  assert.equal(await latencyOf(), { p50Ms: 14, p95Ms: 19, p99Ms: 19, samples: 10 });
  for (const end of ['', '-wal', '-shm']) rmSync(first.file + end, { force: true });
  const second = openIn(files.at());
  for (let n = 0; n < 30; n += 1) second.writer.record(rowOf(100 + n, { latencyMs: 7 }));
  await second.writer.close();
  assert.equal(await latencyOf(), { p50Ms: 7, p95Ms: 7, p99Ms: 7, samples: 30 });
});

test('a second report of the same requests reads no row of a whole minute again', async () => {
  const { writer, file } = files.open();
  for (let n = 0; n < 200; n += 1)
    writer.record(rowOf(n, { startedMs: DAY + n * 7 * MINUTE_MS, latencyMs: n }));
  await writer.close();
  const memory = new RangeMemory();
  const filter = { sinceMs: DAY + 5 * MINUTE_MS + 1 };
  await reportOf(file, filter, 6 * HOUR_MS, memory);
  const spans: number[] = [];
  const reader = openLedgerReader(file);
  const watched = reader.withPlugin({
    transformQuery({ node, queryId }) {
      const { parameters } = reader.getExecutor().compileQuery(node, queryId);
      const [sinceMs, untilMs] = parameters.filter((one) => Number(one) > DAY).map(Number);
      if (sinceMs !== undefined) spans.push((untilMs ?? Infinity) - sinceMs);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await rangeReport(watched, filter, 6 * HOUR_MS, memory);
  await reader.destroy();
  assert.ok(spans.length > 0);
  for (const spanMs of spans) assert.ok(spanMs < MINUTE_MS, `${spanMs} ms are read again`);
});

test.run();
