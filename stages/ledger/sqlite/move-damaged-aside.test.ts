import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../../fixtures/cli/live.ts';
import {
  folderForEach,
  ledgerFaults,
  rowOf,
  stored,
} from '../../../fixtures/ledger/temp-ledger.ts';
import { openLock } from '../../lock.ts';
import { inodeOf } from '../../private-file.ts';
import { moveDamagedAside } from './move-damaged-aside.ts';

const { open, at } = folderForEach(test);

/** Returns the ledgers that were moved aside, without SQLite's own files next to them. */
function movedLedgers(inside: string): readonly string[] {
  return readdirSync(inside).filter((name) => /^monitor\.db\.corrupt-.*(?<!-wal|-shm)$/.test(name));
}

/** Fills all pages after the first with noise, so that the ledger fails as soon as it is opened. */
async function damageLedger(file: string): Promise<void> {
  const { writer } = open({ file });
  for (let n = 0; n < 100; n += 1) writer.record(rowOf(n + 10_000));
  await writer.close();
  const fd = openSync(file, 'r+');
  // The list of tables follows the header.
  writeSync(fd, Buffer.alloc(4096 - 100, 0xee), 0, 4096 - 100, 100);
  closeSync(fd);
}

test('a damaged file is moved aside at start and reported, and a new one is started', async () => {
  const file = at('monitor.db');
  await damageLedger(file);
  const { writer, errors } = open({ file });
  writer.record(rowOf(1));
  await writer.flush();
  assert.is((await stored(file)).length, 1);
  assert.is(movedLedgers(at()).length, 1);
  assert.match(errors[0]?.message ?? '', /was damaged/);
  assert.is(errors.length, 1);
  assert.is(writer.stats().replaced, errors[0]);
  await writer.close();
});

test('a ledger whose header a power cut left as zeros is also moved aside', async () => {
  const file = at('monitor.db');
  const first = open({ file });
  first.writer.record(rowOf(1));
  await first.writer.close();
  for (const length of [108, 5000]) {
    const bytes = Buffer.from(readFileSync(file));
    writeFileSync(file, bytes.fill(0, 0, length));
    const { writer, errors } = open({ file });
    writer.record(rowOf(length));
    await writer.close();
    assert.match(errors[0]?.message ?? '', /was damaged/);
    assert.equal(
      (await stored(file)).map(({ id }) => id),
      [`req_${length}`],
    );
  }
  assert.is(movedLedgers(at()).length, 2);
});

test('two writers that find the same damaged file move it aside once and share the new one', async () => {
  const file = at('monitor.db');
  await damageLedger(file);
  const one = open({ file });
  const two = open({ file });
  for (let n = 0; n < 100; n += 1) (n % 2 === 0 ? one : two).writer.record(rowOf(n));
  await Promise.all([one.writer.flush(), two.writer.flush()]);
  assert.is((await stored(file)).length, 100);
  assert.is(movedLedgers(at()).length, 1);
  assert.is(one.errors.length + two.errors.length, 1);
  await Promise.all([one.writer.close(), two.writer.close()]);
});

test('the ledger is not touched while another process opens it or moves it aside', async () => {
  const file = at('monitor.db');
  await damageLedger(file);
  const other = openLock(`${file}.lock`);
  const release = other.tryAcquire()!;
  const before = readdirSync(at());
  const { writer, errors } = open({ file });
  writer.record(rowOf(1));
  // Longer than the writer's thread itself waits for the lock.
  await sleep(1500);
  assert.equal(readdirSync(at()), before);
  assert.equal([writer.stats().queued, writer.stats().problem], [1, undefined]);
  release();
  await writer.flush();
  assert.is((await stored(file)).length, 1);
  assert.is(movedLedgers(at()).length, 1);
  assert.is(errors.length, 1);
  await writer.close();
  other.close();
});

test('a file that another process has already moved aside is not moved again', async () => {
  const file = at('monitor.db');
  await damageLedger(file);
  const inode = inodeOf(file)!;
  writeFileSync(`${file}-wal`, 'the row is in the new file');
  assert.is(moveDamagedAside(file, inode + 1n, Date.now()), undefined);
  assert.equal(movedLedgers(at()), []);
  assert.is(readFileSync(`${file}-wal`, 'utf8'), 'the row is in the new file');
  const aside = moveDamagedAside(file, inode, Date.now())!;
  assert.equal(
    [existsSync(aside), existsSync(`${aside}-wal`), existsSync(file)],
    [true, true, false],
  );
});

/**
 * Makes a ledger with noise in all pages except its schema: it opens, and fails at the first
 * insert.
 */
async function damageAllButSchema(file: string): Promise<void> {
  const { writer, errors } = open({ file });
  for (let n = 0; n < 2000; n += 1) writer.record(rowOf(n));
  await writer.close();
  assert.equal(errors, []);
  const pages = statSync(file).size / 4096;
  const handle = new Database(file);
  handle.pragma('journal_mode = DELETE');
  const ofSchema = handle
    .prepare(`SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'`)
    .pluck()
    .all();
  handle.close();
  const fd = openSync(file, 'r+');
  for (let page = 1; page <= pages; page += 1)
    if (!ofSchema.includes(page))
      writeSync(fd, Buffer.alloc(4096, 0xee), 0, 4096, (page - 1) * 4096);
  closeSync(fd);
  assert.is.not(ledgerFaults(file).length, 0);
}

test('a file damaged under a running writer is moved aside without losing the batch', async () => {
  const file = at('monitor.db');
  await damageAllButSchema(file);
  const again = open({ file });
  again.writer.record(rowOf(5000));
  await again.writer.flush();
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_5000'],
  );
  assert.match(again.errors[0]?.message ?? '', /was damaged/);
  await again.writer.close();
});

test('damage found only in the sums of the rows is not blamed on the new rows', async () => {
  const file = at('monitor.db');
  const first = open({ file });
  for (let n = 0; n < 357; n += 1) first.writer.record(rowOf(n));
  await first.writer.close();
  const handle = new Database(file);
  handle.pragma('journal_mode = DELETE');
  const newest = handle.prepare(`SELECT max(pageno) FROM dbstat WHERE name = 'requests'`).pluck();
  const page = Number(newest.get());
  handle.close();
  // What a power cut leaves of a page of which only the head was written: rows without any value.
  writeFileSync(file, readFileSync(file).fill(0, (page - 1) * 4096 + 256, page * 4096));
  const { writer, errors } = open({ file });
  for (let n = 5000; n < 5005; n += 1) {
    writer.record(rowOf(n));
    await writer.flush();
  }
  assert.match(errors[0]?.message ?? '', /was damaged/);
  assert.equal([errors.length, writer.stats().dropped], [1, 0]);
  assert.is((await stored(file)).at(-1)?.id, 'req_5004');
  await writer.close();
});

test('a file damaged while another process prevents moving it loses no row', async () => {
  const file = at('monitor.db');
  await damageAllButSchema(file);
  const { writer, errors } = open({ file });
  await writer.ready();
  const other = openLock(`${file}.lock`);
  const release = other.tryAcquire()!;
  writer.record(rowOf(5000));
  // Longer than the writer's thread waits for the lock, and its first pause.
  await sleep(1500);
  assert.equal([writer.stats().queued, writer.stats().dropped], [1, 0]);
  release();
  await until(() => writer.stats().queued === 0, 'the row');
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_5000'],
  );
  assert.is(movedLedgers(at()).length, 1);
  assert.match(errors.at(-1)?.message ?? '', /was damaged/);
  await writer.close();
  other.close();
});

test.run();
