/**
 * Ledgers that are partly copies of each other: every request counts once, even after its row is
 * deleted.
 */
import * as fs from 'node:fs';
import { Database } from '../sqlite.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folderForEach, rowOf } from '../../fixtures/ledger/temp-ledger.ts';
import { createRandom } from '../../fixtures/random.ts';
import { sumsOfEach } from './merged-sums.ts';
import type { OwnSums } from './merged-sums.ts';
import { openLedgerReader } from './sqlite/database.ts';
import { addTotals } from './figures.ts';
import type { TimeSpan } from './queries.ts';
import type { LedgerRow } from './row.ts';
import { toSummary } from './summary.ts';

const test = suite('copies of ledgers');
const ledgers = folderForEach(test);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ALL: TimeSpan = { sinceMs: 0 };
const START = Date.UTC(2026, 9, 1);

/** Returns a machine's requests, about one every twenty minutes, each with different figures. */
function history(name: string, days: number, seed: number, fromDay = 0): readonly LedgerRow[] {
  const random = createRandom(seed);
  return Array.from({ length: days * 72 }, (_, at) =>
    rowOf(0, {
      id: `${name}_${fromDay}_${at}`,
      startedMs: START + fromDay * DAY + at * 20 * 60_000 + Math.floor(random() * 60_000),
      model: random() < 0.5 ? 'claude-a' : 'claude-b',
      provider: 'messages',
      node: name,
      status: 200,
      inputTokensRaw: Math.floor(random() * 1000),
      inputTokensSent: Math.floor(random() * 900),
      savedTokens: Math.floor(random() * 100),
      outputTokens: Math.floor(random() * 100),
      costNanoUsd: Math.floor(random() * 1e6),
      latencyMs: random() * 1000,
    }),
  );
}

/** Writes rows to a ledger of this name. */
async function write(name: string, rows: readonly LedgerRow[]): Promise<string> {
  const file = ledgers.at(name);
  const { writer } = ledgers.open({ file });
  await writer.ready();
  for (const row of rows) {
    writer.record(row);
    if (row.startedMs % 7 === 0) await writer.flush();
  }
  await writer.flush();
  await writer.close();
  return file;
}

/** Deletes rows as retention does: their sums stay. */
function deleteRows(file: string, beforeMs: number): void {
  const database = new Database(file);
  database.prepare('DELETE FROM requests WHERE started_ms < ?').run(beforeMs);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

function copyOf(file: string, name: string): string {
  fs.copyFileSync(file, ledgers.at(name));
  return ledgers.at(name);
}

async function sums(files: readonly string[], span: TimeSpan = ALL): Promise<readonly OwnSums[]> {
  const readers = files.map((file) => openLedgerReader(file));
  try {
    return await sumsOfEach(readers, span);
  } finally {
    for (const reader of readers) await reader.destroy();
  }
}

/** Returns the combined figures of all ledgers by day and model. */
function figuresOf(all: readonly OwnSums[]) {
  const { byModel, byDay } = toSummary(all.flatMap(({ groups }) => groups));
  const shown = (list: readonly { readonly requests: number }[]) =>
    list.map((one) => ({ ...one, latencySumMs: 0 }));
  return { byModel: shown(byModel), byDay: shown(byDay) };
}

function requestsOf(all: readonly OwnSums[]): number {
  return addTotals(all.flatMap(({ groups }) => groups.map(({ totals }) => totals))).requests;
}

/** Checks that these files, in any order, add up to the requests of the single ledger `whole`. */
async function expectWhole(files: readonly string[], whole: string, span: TimeSpan = ALL) {
  const expected = figuresOf(await sums([whole], span));
  const sumsPerFile = await Promise.all([...files, whole].map((file) => sums([file], span)));
  const sizes = sumsPerFile.map((one) => requestsOf(one));
  const repeatedRequests = sizes.reduce((all, size) => all + size, 0) - 2 * sizes.at(-1)!;
  for (const order of [files, files.toReversed()]) {
    const merged = await sums(order, span);
    assert.equal(figuresOf(merged), expected, order.join(', '));
    const repeated = merged.reduce((all, one) => all + one.repeated, 0);
    assert.is(repeated, repeatedRequests, order.join(', '));
    const counted = addTotals(merged.flatMap(({ groups }) => groups.map(({ totals }) => totals)));
    for (const [name, value] of Object.entries(counted))
      assert.ok(value >= -1e-6, `${name} is ${value}`);
  }
}

test('ledgers of different machines are added up, even within the same hour', async () => {
  const [desk, attic] = [history('desk', 2, 1), history('attic', 2, 2)];
  const files = [await write('desk.db', desk), await write('attic.db', attic)];
  const whole = await write('both.db', [...desk, ...attic]);
  await expectWhole(files, whole);
  for (const { repeated } of await sums(files)) assert.is(repeated, 0);
  for (const file of files) deleteRows(file, START + DAY);
  await expectWhole(files, whole);
});

test('a copy and an older copy are counted once while all rows are there', async () => {
  const rows = history('desk', 2, 3);
  const whole = await write('desk.db', rows);
  const older = await write('older.db', rows.slice(0, 100));
  const [, { repeated } = { repeated: 0 }] = await sums([whole, older]);
  assert.is(repeated, 100);
  await expectWhole([whole, older], whole);
  await expectWhole([whole, copyOf(whole, 'same.db'), older], whole);
});

test('copies without rows are counted once: as old, older, and taken within an hour', async () => {
  const rows = history('desk', 4, 4);
  const whole = await write('whole.db', rows);
  const now = await write('now.db', rows);
  deleteRows(now, START + 3 * DAY);
  // 100 is in the second third of an hour.
  for (const count of [72, 99, 100, 101, 200]) {
    const older = await write(`older-${count}.db`, rows.slice(0, count));
    await expectWhole([now, older], whole);
    deleteRows(older, START + DAY);
    await expectWhole([now, older], whole);
    await expectWhole([now, older, copyOf(older, `again-${count}.db`)], whole);
  }
});

test('three copies of different ages are counted once if two have no rows', async () => {
  const rows = history('desk', 6, 5);
  const whole = await write('whole.db', rows);
  const monday = await write('monday.db', rows.slice(0, 130));
  const tuesday = await write('tuesday.db', rows.slice(0, 250));
  const now = await write('now.db', rows);
  deleteRows(tuesday, START + 2 * DAY);
  deleteRows(now, START + 4 * DAY);
  await expectWhole([monday, tuesday, now], whole);
  await expectWhole([tuesday, monday, now], whole);
  await expectWhole([now, monday, tuesday], whole);
});

test('an old copy without rows is counted once beside two copies with all rows', async () => {
  const rows = history('desk', 3, 10);
  const whole = await write('whole.db', rows);
  const older = await write('older.db', rows.slice(0, 100));
  deleteRows(older, START + 3 * DAY);
  await expectWhole([older, whole, copyOf(whole, 'again.db')], whole);
});

test('two homes that diverged after one was cloned are counted correctly', async () => {
  const [common, one, other] = [
    history('desk', 3, 6),
    history('desk', 2, 7, 3),
    history('attic', 2, 8, 3),
  ];
  const whole = await write('whole.db', [...common, ...one, ...other]);
  const files = [
    await write('one.db', [...common, ...one]),
    await write('other.db', [...common, ...other]),
  ];
  await expectWhole(files, whole);
  deleteRows(files[0]!, START + 4 * DAY);
  await expectWhole(files, whole);
  deleteRows(files[1]!, START + 4 * DAY);
  await expectWhole(files, whole);
});

test('hours with equal sums from different machines are not taken for copies', async () => {
  // Failed at once: no measured value distinguishes them.
  const rowsWithoutFigures = (name: string) =>
    Array.from({ length: 5 }, (_, at) =>
      rowOf(0, { id: `${name}_${at}`, startedMs: START + at * HOUR, outcome: 'error' }),
    );
  const files = [
    await write('desk.db', rowsWithoutFigures('desk')),
    await write('attic.db', rowsWithoutFigures('attic')),
  ];
  for (const file of files) deleteRows(file, START + DAY);
  const counted = (await sums(files)).flatMap(({ groups }) => groups.map(({ totals }) => totals));
  assert.is(addTotals(counted).requests, 10);
});

test('spans that begin and end within an hour or a day are counted correctly', async () => {
  const rows = history('desk', 3, 9);
  const whole = await write('whole.db', rows);
  const older = await write('older.db', rows.slice(0, 150));
  for (const [since, until] of [
    [10.5 * HOUR, 40.25 * HOUR],
    [DAY, 2 * DAY],
    [25.1 * HOUR, 25.9 * HOUR],
  ] as const) {
    const span = { sinceMs: START + since, untilMs: START + until };
    await expectWhole([whole, older], whole, span);
  }
  const copy = await write('gone.db', rows);
  deleteRows(copy, START + 2 * DAY);
  await expectWhole([copy, older], whole, { sinceMs: START + DAY });
});

test.run();
