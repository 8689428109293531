import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../../engine/index.ts';
import { folderForEach, rowOf, stored } from '../../../fixtures/ledger/temp-ledger.ts';
import { migrations } from '../migrations.ts';
import { LedgerRefused } from '../writer/problem.ts';
import { openLedgerReader } from './database.ts';
import { prepareLedgerFile } from './file.ts';

const { open, at } = folderForEach(test);

async function refusal(promise: Promise<void>, pattern: RegExp): Promise<void> {
  let thrown: unknown;
  await promise.catch((error: unknown) => {
    thrown = error;
  });
  assert.instance(thrown, Error);
  assert.is((thrown as SvcError).kind, 'config');
  assert.match((thrown as Error).message, pattern);
}

test("a link to another user's file, a dangling link and a folder are refused", async () => {
  const file = at('link.db');
  const target = at('target.db');
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
  const asFolder = at('folder.db');
  mkdirSync(asFolder);
  const { writer, errors } = open({ file: asFolder });
  await refusal(writer.ready(), /not a plain file/);
  writer.record(rowOf(1));
  assert.is(writer.stats().dropped, 1);
  assert.is(errors[0]?.kind, 'config');
  await writer.close();
});

test('a newer ledger and a foreign database are refused and left untouched', async () => {
  const newer = at('newer.db');
  const first = open({
    file: newer,
    migrations: [...migrations, ['CREATE TABLE later (x INTEGER)']],
  });
  first.writer.record(rowOf(1));
  await first.writer.close();
  const second = open({ file: newer });
  const known = migrations.length;
  const versions = new RegExp(`newer svc \\(schema ${known + 1}, this one knows ${known}\\)`);
  await refusal(second.writer.ready(), versions);
  await second.writer.close();
  assert.throws(() => openLedgerReader(newer), /another version/);

  const foreign = at('foreign.db');
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
  assert.equal(migrated.errors, []);
  const db = new Database(file, { readonly: true });
  assert.equal(db.prepare('SELECT id, region FROM requests ORDER BY id').raw().all(), [
    ['req_1', 'eu'],
    ['req_2', 'eu'],
  ]);
  db.close();
  const copy = readdirSync(path.dirname(file)).find((name) =>
    name.startsWith(`monitor.db.v${migrations.length}-`),
  );
  assert.ok(copy);
  const copyPath = path.join(path.dirname(file), copy);
  assert.is(statSync(copyPath).mode & 0o777, 0o600);
  assert.equal(
    (await stored(copyPath)).map((each) => each.id),
    ['req_1'],
  );
});

/** Returns the intact database header of another program's file; what follows it is damaged. */
function foreignHeader(applicationId: number): Buffer {
  const head = Buffer.alloc(4096, 0xee);
  head.write('SQLite format 3\0', 'latin1');
  head.set([64, 32, 32], 21);
  head.writeUInt32BE(applicationId, 68);
  return head;
}

test('a file of another program is refused unchanged, with its mode, and nothing is created beside it', async () => {
  const file = at('notes.txt');
  const contents: readonly (Buffer | string)[] = [
    'my notes\n'.repeat(100),
    'x',
    '\n',
    ' ',
    Buffer.alloc(5000),
    Buffer.from([0x50, 0x4b, 3, 4, 0, 0]),
    'SQLite format',
    'SQLite format 2\0 and more of it',
    foreignHeader(0),
    foreignHeader(0x0f055111),
  ];
  for (const content of contents) {
    writeFileSync(file, content);
    chmodSync(file, 0o644);
    const { writer } = open({ file });
    await refusal(writer.ready(), /not a ledger of svc/);
    await writer.close();
    assert.equal(readFileSync(file), Buffer.from(content));
    assert.is(statSync(file).mode & 0o777, 0o644);
    assert.equal(readdirSync(at()), ['notes.txt']);
    assert.throws(() => openLedgerReader(file), /not a ledger of svc/);
  }
  const link = at('link.db');
  symlinkSync(file, link);
  const { writer } = open({ file: link });
  await refusal(writer.ready(), /not a ledger of svc/);
  await writer.close();
});

test("another program's database is not even opened", async () => {
  const file = at('app.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE requests (x); INSERT INTO requests VALUES (1)');
  db.close();
  chmodSync(file, 0o644);
  const before = readFileSync(file);
  const { writer } = open({ file });
  await refusal(writer.ready(), /another program/);
  await writer.close();
  assert.equal(readFileSync(file), before);
  assert.is(statSync(file).mode & 0o777, 0o644);
  assert.equal(readdirSync(at()), ['app.db']);
});

test('an empty file and a database without tables become ledgers', async () => {
  const empty = at('empty.db');
  writeFileSync(empty, '');
  const withoutTables = at('vacant.db');
  const db = new Database(withoutTables);
  db.exec('VACUUM');
  db.close();
  for (const file of [empty, withoutTables]) {
    const { writer, errors } = open({ file });
    writer.record(rowOf(1));
    await writer.close();
    assert.equal(errors, []);
    assert.is((await stored(file)).length, 1);
  }
});

test.run();
