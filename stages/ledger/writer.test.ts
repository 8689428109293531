import {
  chmodSync,
  closeSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../engine/index.ts';
import { systemClock } from '../../engine/index.ts';
import { ledgerFaults, openLedgerReader } from './database.ts';
import { LedgerRefused, prepareLedgerFile } from './file.ts';
import { ledgerRow } from './row.ts';
import type { LedgerRow } from './row.ts';
import { fromStored, migrations } from './tables.ts';
import type { LedgerWriterOptions } from './writer.ts';
import { createLedgerWriter } from './writer.ts';

let folder = '';
test.before.each(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'svc-ledger-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

function open(options: Partial<LedgerWriterOptions> = {}) {
  const troubles: SvcError[] = [];
  const file = options.file ?? path.join(folder, 'home', 'monitor.db');
  const writer = createLedgerWriter({
    file,
    clock: systemClock,
    onTrouble: (error) => troubles.push(error),
    ...options,
  });
  return { writer, file, troubles };
}

function rowOf(n: number, more: Partial<LedgerRow> = {}): LedgerRow {
  return ledgerRow({
    id: `req_${n}`,
    startedMs: Date.UTC(2026, 10, 20) + n,
    endpoint: '/v1/messages',
    outcome: 'ok',
    ...more,
  });
}

async function stored(file: string): Promise<LedgerRow[]> {
  const reader = openLedgerReader(file);
  try {
    const rows = await reader.selectFrom('requests').selectAll().orderBy('startedMs').execute();
    return rows.map(fromStored);
  } finally {
    await reader.destroy();
  }
}

async function until(condition: () => boolean, timeoutMs = 5000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a row comes back as it was recorded, with null for what nobody measured', async () => {
  const { writer, file, troubles } = open();
  const full = rowOf(1, {
    provider: 'messages',
    dialect: 'messages',
    modelRequested: 'fast',
    model: 'claude-sonnet-4-5',
    stream: true,
    status: 529,
    outcome: 'partial',
    errorKind: 'bad_gateway',
    errorCode: 'PROVIDER_003',
    inputTokensRaw: 9000,
    inputTokensSent: 6000,
    savedTokens: 3000,
    outputTokens: 0,
    cacheReadTokens: 7,
    cacheWriteTokens: 8,
    usageEstimated: true,
    costNanoUsd: 123_456_789_012,
    costSavedNanoUsd: 1,
    latencyMs: 12.5,
    ttfbMs: 3.25,
    attempts: 2,
    mode: 'hybrid',
    cacheHit: true,
    chunksInjected: 2,
    tokensInjected: 300,
    topChunks: ['a', 'b"c'],
    client: 'claude-code',
    sessionId: 's-1',
    skill: 'review',
    node: 'desk',
  });
  const bare = rowOf(2);
  writer.record(full);
  writer.record(bare);
  await writer.close();
  assert.equal(await stored(file), [{ ...full }, { ...bare }]);
  assert.equal(writer.stats(), { written: 2, queued: 0, dropped: 0, trouble: undefined });
  assert.equal(troubles, []);
});

test('flush brings a partial batch and many full ones to the disk', async () => {
  const { writer, file } = open();
  for (let n = 0; n < 1234; n += 1) writer.record(rowOf(n));
  await writer.flush();
  assert.is((await stored(file)).length, 1234);
  assert.is(writer.stats().queued, 0);
  await writer.close();
});

test('a row is readable by another connection well within 100 ms', async () => {
  const { writer, file } = open();
  await writer.ready();
  writer.record(rowOf(1));
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.is((await stored(file)).length, 1);
  await writer.close();
});

test('file 0600, folder 0700, under any umask, companions too', async () => {
  const umask = process.umask(0);
  try {
    const { writer, file } = open();
    writer.record(rowOf(1));
    await writer.flush();
    assert.is(statSync(path.dirname(file)).mode & 0o777, 0o700);
    for (const suffix of ['', '-wal', '-shm']) {
      assert.is(statSync(file + suffix).mode & 0o777, 0o600, suffix);
    }
    await writer.close();
    chmodSync(file, 0o644);
    const again = open({ file });
    await again.writer.ready();
    assert.is(statSync(file).mode & 0o777, 0o600);
    await again.writer.close();
  } finally {
    process.umask(umask);
  }
});

test("a link to another user's file, a dangling link and a folder are refused", async () => {
  const file = path.join(folder, 'link.db');
  const target = path.join(folder, 'target.db');
  symlinkSync(target, file);
  assert.throws(
    () => prepareLedgerFile(file, undefined),
    (error: unknown) => error instanceof LedgerRefused,
  );
  writeFileSync(target, '');
  prepareLedgerFile(file, statSync(target).uid);
  const otherUid = statSync(target).uid + 1;
  assert.throws(() => prepareLedgerFile(file, otherUid), /another user/);
  if (process.getuid?.() === 0) {
    lchownSync(file, 12_345, 12_345);
    assert.throws(() => prepareLedgerFile(file, 0), /another user/);
  }
  const asFolder = path.join(folder, 'folder.db');
  mkdirSync(asFolder);
  const { writer, troubles } = open({ file: asFolder });
  await refusal(writer.ready(), /not a plain file/);
  writer.record(rowOf(1));
  assert.is(writer.stats().dropped, 1);
  assert.is(troubles[0]?.kind, 'config');
  await writer.close();
});

async function refusal(promise: Promise<void>, pattern: RegExp): Promise<void> {
  let thrown: unknown;
  await promise.catch((error: unknown) => {
    thrown = error;
  });
  assert.instance(thrown, Error);
  assert.is((thrown as SvcError).kind, 'config');
  assert.match((thrown as Error).message, pattern);
}

test('a newer ledger and a foreign database are refused and left untouched', async () => {
  const newer = path.join(folder, 'newer.db');
  const first = open({
    file: newer,
    migrations: [...migrations, ['CREATE TABLE later (x INTEGER)']],
  });
  first.writer.record(rowOf(1));
  await first.writer.close();
  const second = open({ file: newer });
  await refusal(second.writer.ready(), /newer svc \(schema 2, this one knows 1\)/);
  await second.writer.close();
  assert.throws(() => openLedgerReader(newer), /another version/);

  const foreign = path.join(folder, 'foreign.db');
  const db = new Database(foreign);
  db.exec('CREATE TABLE precious (x INTEGER)');
  db.close();
  const third = open({ file: foreign });
  await refusal(third.writer.ready(), /another program/);
  await third.writer.close();
  assert.is(third.writer.stats().dropped, 0);
});

test('an older ledger is copied aside and migrated with its rows', async () => {
  const { writer, file } = open();
  writer.record(rowOf(1));
  await writer.close();
  const next = [...migrations, ["ALTER TABLE requests ADD COLUMN region TEXT DEFAULT 'eu'"]];
  const migrated = open({ file, migrations: next });
  migrated.writer.record(rowOf(2));
  await migrated.writer.close();
  assert.equal(migrated.troubles, []);
  const db = new Database(file, { readonly: true });
  assert.equal(db.prepare('SELECT id, region FROM requests ORDER BY id').raw().all(), [
    ['req_1', 'eu'],
    ['req_2', 'eu'],
  ]);
  db.close();
  const copy = readdirSync(path.dirname(file)).find((name) => name.startsWith('monitor.db.v1-'));
  assert.ok(copy);
  const copyPath = path.join(path.dirname(file), copy);
  assert.is(statSync(copyPath).mode & 0o777, 0o600);
  assert.equal(
    (await stored(copyPath)).map((each) => each.id),
    ['req_1'],
  );
});

test('a damaged file is put aside at start, a new one begun, and it is said', async () => {
  const file = path.join(folder, 'monitor.db');
  writeFileSync(file, 'not a database at all '.repeat(500));
  const { writer, troubles } = open({ file });
  writer.record(rowOf(1));
  await writer.flush();
  assert.is((await stored(file)).length, 1);
  const aside = readdirSync(folder).filter((name) => name.startsWith('monitor.db.corrupt-'));
  assert.is(aside.length, 1);
  assert.match(troubles[0]?.message ?? '', /was damaged/);
  assert.is(troubles.length, 1);
  await writer.close();
});

test('a file that breaks under the running writer is put aside without losing the batch', async () => {
  const { writer, file, troubles } = open();
  for (let n = 0; n < 2000; n += 1) writer.record(rowOf(n));
  await writer.close();
  // Every page but the first: it opens as a ledger, and breaks at the first insert.
  const pages = statSync(file).size / 4096;
  const handle = new Database(file);
  handle.pragma('journal_mode = DELETE');
  handle.close();
  const fd = openSync(file, 'r+');
  for (let page = 1; page < pages; page += 1)
    writeSync(fd, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
  closeSync(fd);
  assert.is.not(ledgerFaults(file).length, 0);

  const again = open({ file });
  again.writer.record(rowOf(5000));
  await again.writer.flush();
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_5000'],
  );
  assert.match(again.troubles[0]?.message ?? '', /was damaged/);
  await again.writer.close();
  assert.equal(troubles, []);
});

test('a disk that refuses costs rows only past the bound, is told once, and is used again when it is back', async () => {
  const blocked = path.join(folder, 'home');
  writeFileSync(blocked, 'a file where the folder should be');
  const { writer, file, troubles } = open({ maxQueuedRows: 120 });
  await writer.ready();
  for (let n = 0; n < 200; n += 1) writer.record(rowOf(n));
  await writer.flush();
  assert.equal(
    { ...writer.stats(), trouble: writer.stats().trouble?.code },
    { written: 0, queued: 120, dropped: 80, trouble: 'RESOURCE_002' },
  );
  const told = troubles.map((error) => error.message);
  assert.is(new Set(told).size, told.length);
  rmSync(blocked);
  await until(() => writer.stats().queued === 0);
  assert.is((await stored(file)).length, 120);
  assert.is(writer.stats().trouble, undefined);
  await writer.close();
});

test('a disk that fills up under load: bounded memory, counted drops, a sound file', async () => {
  const file = path.join(folder, 'monitor.db');
  // A limit on the size of files stands for the full disk: writes fail in the middle of a batch.
  const script = `
    const { createLedgerWriter } = await import(${JSON.stringify(new URL('./writer.js', import.meta.url).href)});
    const { ledgerRow } = await import(${JSON.stringify(new URL('./row.js', import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL('../../engine/index.js', import.meta.url).href)});
    const codes = [];
    const writer = createLedgerWriter({
      file: ${JSON.stringify(file)}, clock: systemClock, maxQueuedRows: 300,
      onTrouble: (error) => codes.push(error.code + ' ' + error.message),
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

test('a thread that dies after storing and before saying so: no row lost, none twice', async () => {
  const threadUrl = new URL('./dying-worker.js', import.meta.url);
  const { writer, file, troubles } = open({ threadUrl });
  for (let n = 0; n < 120; n += 1) writer.record(rowOf(n));
  await until(() => writer.stats().queued === 0);
  assert.is(writer.stats().written, 120);
  assert.is((await stored(file)).length, 120);
  assert.match(troubles[0]?.message ?? '', /thread failed: killed by the test/);
  assert.is(writer.stats().trouble, undefined);
  await writer.close();
});

test('a folder that is deleted under the writer is made again', async () => {
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

test('closing on a disk that refuses ends soon and counts what is lost', async () => {
  writeFileSync(path.join(folder, 'home'), '');
  const { writer } = open();
  for (let n = 0; n < 60; n += 1) writer.record(rowOf(n));
  const started = Date.now();
  await writer.close();
  assert.ok(Date.now() - started < 1500);
  assert.is(writer.stats().dropped, 60);
  writer.record(rowOf(99));
  assert.is(writer.stats().dropped, 61);
});

test('a locked file delays rows and loses none', async () => {
  const { writer, file, troubles } = open();
  await writer.ready();
  const lock = new Database(file);
  lock.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 60; n += 1) writer.record(rowOf(n));
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.is(writer.stats().written, 0);
  lock.exec('COMMIT');
  lock.close();
  await writer.flush();
  assert.is(writer.stats().written, 60);
  assert.equal(troubles, []);
  await writer.close();
});

test('a row that the schema refuses is dropped alone', async () => {
  const { writer, file, troubles } = open();
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
  assert.is(troubles[0]?.code, 'RESOURCE_002');
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
  assert.equal([...one.troubles, ...two.troubles], []);
});

test('prune deletes the old, in slices, and keeps the rest', async () => {
  const { writer, file } = open();
  const dayMs = 86_400_000;
  for (let n = 0; n < 2500; n += 1) writer.record(rowOf(n, { startedMs: Date.now() - 40 * dayMs }));
  writer.record(rowOf(9000, { startedMs: Date.now() - 29 * dayMs }));
  await writer.flush();
  assert.is(await writer.prune(30), 2500);
  assert.equal(
    (await stored(file)).map((each) => each.id),
    ['req_9000'],
  );
  await writer.close();
});

test('reading before there is a ledger says so', () => {
  assert.throws(() => openLedgerReader(path.join(folder, 'none.db')), /no ledger/);
});

test.run();
