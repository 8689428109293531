import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../../fixtures/wait.ts';
import {
  folderForEach,
  ledgerFaults,
  rowOf,
  stored,
} from '../../../fixtures/ledger/temp-ledger.ts';

const { open, at } = folderForEach(test);

test('a disk that refuses writes loses only rows past the bound, is reported once, and is used again later', async () => {
  const blocked = at('home');
  writeFileSync(blocked, 'a file where the folder should be');
  const { writer, file, errors } = open({ maxQueuedRows: 120 });
  await writer.ready();
  for (let n = 0; n < 200; n += 1) writer.record(rowOf(n));
  await writer.flush();
  assert.equal(
    { ...writer.stats(), problem: writer.stats().problem?.code },
    { written: 0, queued: 120, dropped: 80, problem: 'RESOURCE_002', replaced: undefined },
  );
  const reported = errors.map((error) => error.message);
  assert.is(new Set(reported).size, reported.length);
  rmSync(blocked);
  await until('all rows are stored', () => writer.stats().queued === 0);
  assert.is((await stored(file)).length, 120);
  assert.is(writer.stats().problem, undefined);
  await writer.close();
});

test('a disk that fills up under load leaves memory bounded, counts dropped rows and does not damage the file', async () => {
  const file = at('monitor.db');
  // A file size limit simulates a full disk: writes fail in the middle of a batch.
  const script = `
    const { ThreadedWriter } = await import(${JSON.stringify(new URL('./threaded-writer.js', import.meta.url).href)});
    const { ledgerRow } = await import(${JSON.stringify(new URL('../row.js', import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL('../../../engine/index.js', import.meta.url).href)});
    const codes = [];
    const writer = new ThreadedWriter({
      db: ${JSON.stringify(file)}, clock: systemClock, maxQueuedRows: 300,
      onProblem: (error) => codes.push(error.code + ' ' + error.message),
    });
    for (let n = 0; n < 4000; n += 1) {
      writer.record(ledgerRow({ id: 'req_' + n, startedMs: n, endpoint: '/', outcome: 'ok', model: 'm'.repeat(150) }));
      if (n % 100 === 0) await writer.flush();
    }
    const before = writer.stats();
    await writer.close();
    console.log(JSON.stringify({ before, after: writer.stats(), codes }));
  `;
  const shell = `trap '' XFSZ; ulimit -f 1024; exec "$0" --input-type=module -e "$1"`;
  const { stdout } = spawnSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' });
  const { before, after, codes } = JSON.parse(stdout);
  assert.is(before.queued, 300);
  assert.is(before.written + before.queued + before.dropped, 4000);
  assert.is(after.written + after.dropped, 4000);
  assert.ok(after.written > 100 && after.dropped > 1000, stdout);
  assert.ok(codes.length < 10 && codes.every((code: string) => code.startsWith('RESOURCE_002')));
  assert.equal(ledgerFaults(file), []);
  assert.is((await stored(file)).length, after.written);
});

test('a thread that dies between storing and reporting loses and repeats no row', async () => {
  const threadUrl = new URL('./writer-faults-testing.js', import.meta.url);
  const { writer, file, errors } = open({ threadUrl });
  for (let n = 0; n < 120; n += 1) writer.record(rowOf(n));
  await until('all rows are stored', () => writer.stats().queued === 0);
  assert.is(writer.stats().written, 120);
  assert.is((await stored(file)).length, 120);
  assert.match(errors[0]?.message ?? '', /thread failed: killed by the test/);
  assert.is(writer.stats().problem, undefined);
  await writer.close();
});

test('a folder deleted under the writer is created again', async () => {
  const { writer, file } = open();
  writer.record(rowOf(1));
  await writer.flush();
  rmSync(path.dirname(file), { recursive: true });
  writer.record(rowOf(2));
  await writer.flush();
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_2'],
  );
  await writer.close();
});

test('closing on a disk that refuses ends early and counts the lost rows', async () => {
  writeFileSync(at('home'), '');
  const { writer } = open({ closeWithinMs: 3_600_000 });
  for (let n = 0; n < 60; n += 1) writer.record(rowOf(n));
  let isClosed = false;
  void writer.close().then(() => (isClosed = true));
  await until('it is closed', () => isClosed);
  assert.is(writer.stats().dropped, 60);
  writer.record(rowOf(99));
  assert.is(writer.stats().dropped, 61);
});

test('a locked file delays rows but loses none', async () => {
  const { writer, file, errors } = open();
  await writer.ready();
  const lock = new Database(file);
  lock.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 60; n += 1) writer.record(rowOf(n));
  // Nothing is written in the meantime, and no failure is reported.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.is(writer.stats().written, 0);
  lock.exec('COMMIT');
  lock.close();
  await writer.flush();
  assert.is(writer.stats().written, 60);
  assert.equal(errors, []);
  await writer.close();
});

test('only the row that the schema refuses is dropped', async () => {
  const { writer, file, errors } = open();
  writer.record(rowOf(1));
  writer.record(rowOf(2, { inputTokensRaw: 1.5 }));
  writer.record(rowOf(3, { savedTokens: -1 }));
  writer.record(rowOf(4));
  await writer.flush();
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_1', 'req_4'],
  );
  assert.equal([writer.stats().written, writer.stats().dropped], [2, 2]);
  assert.is(errors[0]?.code, 'RESOURCE_002');
  await writer.close();
});

test('two writers on one file keep every row of both', async () => {
  const one = open();
  const two = open();
  for (let n = 0; n < 3000; n += 1) {
    (n % 2 === 0 ? one : two).writer.record(rowOf(n));
    if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all([one.writer.close(), two.writer.close()]);
  assert.is((await stored(one.file)).length, 3000);
  assert.equal(ledgerFaults(one.file), []);
  assert.equal([...one.errors, ...two.errors], []);
});

test.run();
