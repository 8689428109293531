import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLedgerReader } from '../sqlite/database.ts';
import { migrations } from '../migrations.ts';
import * as queries from '../queries.ts';
import { firstStartMs, rangeReport } from '../range-report.ts';
import { APPLICATION_ID } from '../tables.ts';
import { folderForEach, rowOf, stored } from '../../../fixtures/ledger/temp-ledger.ts';

const { open } = folderForEach(test);
const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2026, 10, 1);

/** Returns `count` rows, one every quarter of an hour. */
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    rowOf(n, {
      startedMs: FIRST_MS + n * 900_000,
      provider: n % 2 === 0 ? 'messages' : 'chat',
      model: n % 3 === 0 ? null : `m${n % 3}`,
      inputTokensRaw: n,
      savedTokens: n % 7,
      costNanoUsd: 5 * n,
      latencyMs: n,
    }),
  );

async function figures(file: string) {
  const reader = openLedgerReader(file);
  try {
    return {
      totals: await queries.totalsOf(reader),
      byModel: await queries.totalsBy(reader, 'model'),
      both: await queries.totalsByAll(reader, ['model', 'provider']),
      days: await queries.totalsByDay(reader),
      since: await queries.totalsOf(reader, { sinceMs: FIRST_MS + 2 * DAY_MS }),
      report: await rangeReport(reader, { sinceMs: 0 }, DAY_MS),
      ofMessages: await rangeReport(reader, { sinceMs: 0, provider: 'messages' }, DAY_MS),
      firstMs: await firstStartMs(reader, { sinceMs: 0 }),
    };
  } finally {
    await reader.destroy();
  }
}

test('old rows are deleted in steps, and their sums and new rows are kept', async () => {
  const { writer, file, errors } = open();
  const rows = rowsOf(1800);
  for (const row of rows) writer.record(row);
  await writer.flush();
  const before = await figures(file);
  const keptFromMs = FIRST_MS + 15 * DAY_MS;
  const pruning = writer.prune(keptFromMs);
  const late = rowOf(9999, { startedMs: FIRST_MS + 19 * DAY_MS });
  writer.record(late);
  assert.is(await pruning, 15 * 96);
  assert.is(await writer.prune(keptFromMs), 0);
  await writer.flush();
  const keptIds = rows.filter(({ startedMs }) => startedMs >= keptFromMs).map(({ id }) => id);
  assert.equal(
    (await stored(file)).map(({ id }) => id).toSorted(),
    [...keptIds, late.id].toSorted(),
  );
  const after = await figures(file);
  assert.is(after.totals.requests, before.totals.requests + 1);
  assert.is(after.totals.costNanoUsd, before.totals.costNanoUsd);
  assert.is(after.since.savedTokens, before.since.savedTokens);
  assert.equal(after.days.slice(0, 15), before.days.slice(0, 15));
  assert.equal(after.byModel[1], before.byModel[1]);
  const ofModel = ({ both }: typeof after) => both.find(({ model }) => model === 'm1');
  assert.equal(ofModel(after), ofModel(before));
  assert.equal(after.report.totals, after.totals);
  assert.equal(after.report.byModel, after.byModel);
  assert.equal(after.ofMessages.totals, before.ofMessages.totals);
  const steps = ({ report }: typeof after) => report.buckets.map(({ totals }) => totals);
  assert.equal(steps(after).slice(0, 15), steps(before).slice(0, 15));
  assert.is(after.report.latency.samples, keptIds.length);
  assert.is(after.firstMs, FIRST_MS);
  assert.equal(errors, []);
  await writer.close();
  assert.is(await writer.prune(keptFromMs), 0, 'a closed writer prunes nothing');
});

test('a row that is recorded twice counts once', async () => {
  const { writer, file } = open();
  writer.record(rowOf(1));
  await writer.flush();
  writer.record(rowOf(1));
  await writer.close();
  assert.is((await figures(file)).totals.requests, 1);
});

test('only the rows of a batch that the file accepted are counted', async () => {
  const { writer, file } = open();
  for (let n = 0; n < 3; n += 1) writer.record(rowOf(n));
  await writer.flush();
  for (let n = 0; n < 12; n += 1) writer.record(rowOf(n));
  await writer.flush();
  for (let n = 12; n < 20; n += 1) writer.record(rowOf(n, { inputTokensRaw: n === 15 ? 0.5 : n }));
  await writer.close();
  assert.is((await figures(file)).totals.requests, 19);
});

test('rows are counted even after all earlier ones were deleted', async () => {
  const { writer, file } = open();
  for (const row of rowsOf(40)) writer.record(row);
  await writer.flush();
  assert.is(await writer.prune(FIRST_MS + DAY_MS), 40);
  for (let n = 50; n < 60; n += 1) writer.record(rowOf(n));
  await writer.close();
  assert.is((await figures(file)).totals.requests, 50);
});

test('rows that an older program stores are counted with the next batch', async () => {
  const { writer, file } = open();
  writer.record(rowOf(1));
  await writer.flush();
  const older = new Database(file);
  older.exec(`INSERT INTO requests (id, started_ms, endpoint, stream, outcome, usage_estimated, attempts, cache_hit)
    VALUES ('req_old', 1, '/', 0, 'ok', 0, 1, 0)`);
  older.close();
  writer.record(rowOf(2));
  await writer.close();
  assert.is((await figures(file)).totals.requests, 3);
});

/**
 * Creates a ledger of version three, which had no sums, with those columns of the rows of `from`
 * that it had.
 */
function toThirdVersion(file: string, from: string): void {
  const db = new Database(file);
  for (const step of migrations.slice(0, 3)) for (const sql of step) db.exec(sql);
  const columns = db.prepare(`SELECT name FROM pragma_table_info('requests')`).pluck().all();
  db.prepare('ATTACH ? AS today').run(from);
  db.exec(`INSERT INTO requests (${columns.join()}) SELECT ${columns.join()} FROM today.requests`);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma('user_version = 3');
  db.close();
}

test('a ledger without sums gets them from its rows', async () => {
  const { writer, file } = open();
  for (const row of rowsOf(300)) writer.record(row);
  await writer.close();
  toThirdVersion(`${file}.old`, file);
  const next = open({ file: `${file}.old` });
  await next.writer.close();
  const old = await figures(next.file);
  assert.is(old.totals.requests, 300);
  assert.equal(old, await figures(file));
});

test.run();
