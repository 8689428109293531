/** Another program's file is never taken for the index, whatever the operation. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../../engine/error.ts';
import { forgetFolder } from '../indexing/forget.ts';
import { checkVault, rebuildVault } from './health.ts';
import { BACKENDS } from '../backends/block-index.ts';
import { inPlace, type Place } from '../../../fixtures/vault/place.ts';

/** Without a final line break, of one line, of many lines, of another kind, and of no kind. */
const STRANGERS = [
  '{"id": 1, "text": "mine"}',
  '{"id": 1}\n{"id": 2}\n',
  '{"record":"sale","total":3}\n'.repeat(2_000),
  '{"record":"log","level":"info"}',
  '[]',
  '{',
  'notes\nof mine\n',
  '{"record":"x",'.repeat(80_000),
  'SQLite format 3\0 and so on',
  '\0'.repeat(5_000),
];

async function refuses(place: Place, work: () => Promise<unknown>, file: string): Promise<void> {
  const before = readFileSync(join(place.indexDir, file));
  const names = readdirSync(place.indexDir);
  try {
    await work();
    assert.unreachable('was not refused');
  } catch (error) {
    assert.ok(isSvcError(error), String(error));
    assert.ok(error.message.includes(join(place.indexDir, file)), error.message);
    assert.match(error.cure ?? '', /SVC_VAULT_INDEX/);
  }
  assert.equal(readFileSync(join(place.indexDir, file)), before);
  assert.equal(readdirSync(place.indexDir), names);
}

test('refuses every operation on a foreign file in place of the log, and leaves it alone', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    mkdirSync(place.indexDir);
    for (const text of STRANGERS) {
      writeFileSync(join(place.indexDir, 'blocks.jsonl'), text);
      const works = [
        () => place.index(),
        () => rebuildVault(place.base()),
        () => forgetFolder({ ...place.base(), root: place.root }),
        ...BACKENDS.flatMap((backend) => [
          () => place.open(backend).search('zebra'),
          () => place.open(backend).status(),
          () => place.open(backend).ingest([{ content: 'zebra' }]),
        ]),
      ];
      for (const work of works) await refuses(place, work, 'blocks.jsonl');
      const { status, reasons } = await checkVault(place.indexDir);
      assert.is(status, 'broken');
      assert.match(reasons.join(), /not a vault index/);
    }
    assert.equal(place.problems, []);
  }));

test('refuses a foreign file that replaces the log of an open index, and recovers when it is gone', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    const log = join(place.indexDir, 'blocks.jsonl');
    for (const backend of BACKENDS) {
      await place.index();
      const vault = place.open(backend);
      assert.is((await vault.search('zebra')).length, 1);
      renameSync(log, `${log}.ours`);
      writeFileSync(log, STRANGERS[1]!);
      await refuses(place, () => vault.search('zebra'), 'blocks.jsonl');
      await refuses(place, () => place.index(), 'blocks.jsonl');
      renameSync(`${log}.ours`, log);
      assert.is((await vault.search('zebra')).length, 1, backend);
    }
    assert.equal(place.problems, []);
  }));

test('recognises a damaged log as its own, even outside of its folder', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const log = join(place.indexDir, 'blocks.jsonl');
    const whole = readFileSync(log);
    const places: ((bytes: Buffer) => Buffer)[] = [
      // Without its start, with one byte changed, and truncated in its first record.
      (bytes) => bytes.subarray(9),
      (bytes) => Buffer.concat([Buffer.from('?'), bytes.subarray(1)]),
      (bytes) => bytes.subarray(0, 20),
      () => Buffer.alloc(0),
    ];
    for (const damage of places) {
      rmSync(place.indexDir, { recursive: true });
      mkdirSync(place.indexDir);
      writeFileSync(log, damage(whole));
      const vault = place.open();
      await vault.search('zebra');
      await vault.settled();
      await place.index();
      assert.is((await vault.search('zebra')).length, 1);
    }
    // The file is empty, but the lock next to it still shows its owner.
    truncateSync(log, 0);
    truncateSync(log, 3_000);
    const found = place.problems.length;
    assert.equal(await place.open().search('zebra'), []);
    assert.is(place.problems.length, found + 1);
    assert.ok(existsSync(place.problems.at(-1)!.movedTo));
  }));

test('refuses another program’s database, whatever its version', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    mkdirSync(place.indexDir);
    const path = join(place.indexDir, 'blocks.db');
    for (const version of [0, 1, 2, 7]) {
      const more = `CREATE TABLE ${version % 2 === 0 ? 'customers' : 'terms'} (name TEXT);`;
      rmSync(path, { force: true });
      const database = new Database(path);
      database.exec(`CREATE TABLE blocks (mine TEXT); ${more}
        INSERT INTO blocks VALUES ('precious'); PRAGMA user_version = ${version}`);
      database.close();
      await refuses(place, () => place.open('sqlite').search('zebra'), 'blocks.db');
    }
    assert.equal(place.problems, []);
  }));

test('leaves anything else in place of the database alone, and reports it', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const path = join(place.indexDir, 'blocks.db');
    const makers: Record<string, () => void> = {
      'a text': () => writeFileSync(path, 'notes of mine\n'.repeat(500)),
      'a folder': () => mkdirSync(path),
      'a database': () => {
        const database = new Database(path);
        database.exec("CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('me')");
        database.close();
      },
    };
    for (const [what, make] of Object.entries(makers)) {
      make();
      const names = readdirSync(place.indexDir);
      const { status, reasons, inTheWay } = await checkVault(place.indexDir);
      assert.equal([status, inTheWay], ['broken', [path]], what);
      assert.match(reasons.join(), /blocks\.db is not a vault index/, what);
      for (const work of ['search', 'status'] as const) {
        try {
          await place.open('sqlite')[work]('zebra');
          assert.unreachable(`${what} was not refused`);
        } catch (error) {
          assert.ok(isSvcError(error), String(error));
          assert.is(error.kind, 'config', what);
          assert.ok(error.message.includes(path), error.message);
        }
      }
      assert.is((await place.open('json_blocks').search('zebra')).length, 1);
      assert.equal(readdirSync(place.indexDir), names, what);
      rmSync(path, { recursive: true });
    }
    assert.equal(place.problems, []);
  }));

test.run();
