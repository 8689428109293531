import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLock } from '../lock.ts';
import { checkVault, rebuildVault } from './log/health.ts';
import { indexFolder } from './indexing/indexer.ts';
import { layoutOf } from './log/layout.ts';
import type { ReadPool } from './read/read-pool.ts';
import { BACKENDS } from './backends/block-index.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

test('moves a damaged log aside, reports it, and restores the content from the files', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 20; file++) place.write(`f${file}.md`, `number ${file} zebra`);
    await place.index();
    const before = place.open();
    await before.ingest([{ id: 'kept', content: 'ingested zebra' }]);
    const log = join(place.indexDir, 'blocks.jsonl');
    const bytes = readFileSync(log);
    bytes[bytes.indexOf('number 7 zebra')]! ^= 1;
    writeFileSync(log, bytes);
    assert.is((await checkVault(place.indexDir)).status, 'broken');
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      await vault.search('zebra');
      await vault.settled();
      assert.is((await vault.search('zebra', { top: 50 })).length, 21, backend);
    }
    assert.is(place.problems.length, 1);
    assert.equal(readFileSync(place.problems[0]!.movedTo), bytes);
    const health = await checkVault(place.indexDir);
    assert.equal([health.status, health.files, health.movedAside.length], ['ok', 20, 1]);
  }));

test('rebuilds a destroyed log from the folders that the vault remembers', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      assert.is((await vault.search('zebra')).length, 1);
      writeFileSync(join(place.indexDir, 'blocks.jsonl'), 'garbage '.repeat(1000));
      assert.is((await vault.status()).rebuilding, true, backend);
      await vault.settled();
      assert.is((await vault.search('zebra')).length, 1);
      const { roots, rebuilding } = await vault.status();
      assert.equal([roots, rebuilding], [[place.root], false]);
    }
    assert.is(place.problems.length, 2);
    writeFileSync(join(place.indexDir, 'blocks.jsonl'), 'garbage '.repeat(1000));
    assert.equal(await place.open().search('zebra'), []);
    assert.match(place.problems[2]!.what, /no folder is known.*`svc index <folder>`/);
  }));

test('never returns damaged text from an open vault', () =>
  inPlace(async (place) => {
    place.write('a.md', 'the quagga was a zebra');
    await place.index();
    const vault = place.open();
    await vault.search('quagga');
    const log = join(place.indexDir, 'blocks.jsonl');
    const bytes = readFileSync(log);
    bytes[bytes.lastIndexOf('quagga')]! ^= 1;
    writeFileSync(log, bytes);
    await vault.search('zebra');
    await vault.settled();
    assert.is((await vault.search('zebra'))[0]?.content, 'the quagga was a zebra');
    assert.is(place.problems.length, 1);
  }));

test('moves a damaged database aside and rebuilds it from the log', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const first = place.open('sqlite');
    await first.search('zebra');
    await first.close();
    writeFileSync(join(place.indexDir, 'blocks.db'), 'this is not a database'.repeat(1000));
    const second = place.open('sqlite');
    assert.is((await second.search('zebra')).length, 1);
    assert.is(place.problems.length, 1);
    assert.ok(existsSync(place.problems[0]!.movedTo));
  }));

test('reads files again in a rebuild, and keeps ingested blocks', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const vault = place.open('sqlite');
    await vault.ingest([{ id: 'kept', content: 'ingested zebra' }]);
    const rebuilt = await rebuildVault(place.base());
    assert.equal(
      rebuilt?.reports.map(({ indexed }) => indexed),
      [1],
    );
    assert.equal((await vault.search('zebra')).map(({ id }) => id).includes('kept'), true);
    assert.is((await vault.status()).blocks, 2);
    // Nothing was damaged, so a second copy would be useless.
    assert.equal(
      [rebuilt?.movedTo, (await checkVault(place.indexDir)).movedAside],
      [undefined, []],
    );
  }));

test('resumes a rebuild that was interrupted in its first folder, and loses no folder', () =>
  inPlace(async (place) => {
    const folders = ['one', 'two', 'three'].map((name) => join(place.top, name));
    for (const [number, root] of folders.entries()) {
      mkdirSync(root);
      for (let file = 0; file < 40; file++) {
        writeFileSync(join(root, `f${file}.md`), `zebra ${number} of ${file}\n`);
      }
      await indexFolder({ ...place.base(), root, workers: 1, parseCode: false });
    }
    const count = async (): Promise<number> => (await place.open().status()).blocks;
    assert.is(await count(), 120);
    const stop = new AbortController();
    const cut = await rebuildVault({
      ...place.base(),
      workers: 1,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    assert.equal(
      [cut?.reports.length, cut?.reports[0]?.complete, cut?.pending.length],
      [1, false, 3],
    );
    const health = await checkVault(place.indexDir);
    assert.equal([health.status, health.files], ['broken', 120]);
    assert.match(health.reasons.join(), /has not been read again/);
    // What has not been read again is unchanged, and the next process to open the vault continues.
    const vault = place.open('sqlite');
    assert.is((await vault.search('zebra', { top: 200 })).length, 120);
    await vault.settled();
    assert.is((await checkVault(place.indexDir)).status, 'ok');
    assert.is(await count(), 120);
    const again = await indexFolder({ ...place.base(), root: folders[2]!, workers: 1 });
    assert.is(again.indexed, 0);
  }));

test('rereads every file at the next indexing after a rebuild was killed, changed or not', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    const old = new Date(Date.now() - 60_000);
    utimesSync(join(place.root, 'a.md'), old, old);
    await place.index();
    // As after a kill: the log is new and no folder has been read.
    const stop = new AbortController();
    stop.abort();
    const cut = await rebuildVault({ ...place.base(), signal: stop.signal });
    assert.equal([cut?.reports.length, cut?.pending], [0, [place.root]]);
    assert.equal([(await place.index()).indexed, (await place.index()).indexed], [1, 0]);
    assert.is((await checkVault(place.indexDir)).status, 'ok');
  }));

test('starts again when the index folder is deleted under an open vault', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    for (const backend of BACKENDS) {
      await place.index();
      const [first, second] = [place.open(backend), place.open(backend)];
      for (const vault of [first, second]) {
        const [result] = await vault.ingest([{ content: `quagga ${randomUUID()}` }]);
        assert.ok(result?.ok === true);
      }
      assert.is((await first.search('zebra')).length, 1);
      rmSync(place.indexDir, { recursive: true });
      assert.equal(await second.search('zebra'), []);
      rmSync(place.indexDir, { recursive: true, force: true });
      assert.ok((await first.ingest([{ id: 'new', content: 'a new quagga' }]))[0]?.ok);
      rmSync(place.indexDir, { recursive: true });
      await place.index();
      assert.is((await first.search('zebra')).length, 1);
      // An appender now waits for the owner of the current lock.
      const lock = openLock(layoutOf(place.indexDir).appendLock);
      const release = await lock.acquire();
      let isDone = false;
      const ingesting = Promise.all(
        [first, second].map((vault, at) => vault.ingest([{ content: `okapi ${at}` }])),
      ).then(() => (isDone = true));
      await pause(50);
      assert.is(isDone, false);
      release();
      await ingesting;
      lock.close();
      for (const vault of [first, second]) {
        assert.equal([(await vault.search('okapi')).length, (await vault.status()).blocks], [2, 3]);
      }
      assert.is((await checkVault(place.indexDir)).status, 'ok');
      rmSync(place.indexDir, { recursive: true });
    }
    assert.equal(place.problems, []);
  }));

test('writes only private files, whatever the umask', () =>
  inPlace(async (place) => {
    const before = process.umask(0);
    try {
      place.write('a.md', 'zebra');
      await place.index();
      const vault = place.open('sqlite');
      await vault.ingest([{ content: 'x' }]);
      assert.is(statSync(place.indexDir).mode & 0o777, 0o700);
      for (const name of readdirSync(place.indexDir)) {
        assert.is(statSync(join(place.indexDir, name)).mode & 0o777, 0o600, name);
      }
    } finally {
      process.umask(before);
    }
  }));

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test('stops an indexing run without waiting for a slow file', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra\n');
    const stop = new AbortController();
    let calls = 0;
    // A reader that never replies, as if stuck in a file.
    const read = (): Promise<never> => {
      calls++;
      setImmediate(() => stop.abort());
      return new Promise(() => undefined);
    };
    const pool = { read, close: () => Promise.resolve() };
    const report = await indexFolder({
      ...place.base(),
      root: place.root,
      pool,
      signal: stop.signal,
    });
    assert.is(report.complete, false);
    assert.is(report.indexed, 0);
    assert.is(calls, 1);
  }));

test('releases the memory of a batch once it is written', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 200; file++) place.write(`f${file}.md`, 'words');
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const given: WeakRef<Uint8Array>[] = [];
    let kept = 0;
    const pool: ReadPool = {
      read: async (tasks) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        collect();
        kept = given.filter((bytes) => bytes.deref() !== undefined).length;
        const bytes = new Uint8Array();
        given.push(new WeakRef(bytes));
        return { bytes, files: tasks.map(() => ({ outcome: 'touched', blocks: 0 })) };
      },
      close: () => Promise.resolve(),
    };
    const { signal } = new AbortController();
    await indexFolder({ ...place.base(), root: place.root, workers: 1, pool, signal });
    assert.ok(given.length > 5 && kept <= 3, `${kept} of ${given.length}`);
  }));

test.run();
