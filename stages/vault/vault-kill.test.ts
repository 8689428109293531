/** Killed processes and concurrent processes: nothing is lost and nothing is duplicated. */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom } from '../../fixtures/random.ts';
import { openLock } from '../lock.ts';
import { checkVault } from './log/health.ts';
import { indexFolder } from './indexing/indexer.ts';
import { layoutOf } from './log/layout.ts';
import { openVault } from './vault.ts';
import { BACKENDS } from './backends/block-index.ts';
import { inPlace, type Place } from '../../fixtures/vault/place.ts';

const CHILD = fileURLToPath(new URL('./vault-kill-testing.js', import.meta.url));

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when a child reports that it has started; rejects if it ends before that. */
function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it started`)));
  });
}

async function killAll(children: readonly ChildProcess[]): Promise<void> {
  const living = children.filter((one) => one.exitCode === null && one.signalCode === null);
  const ended = living.map((one) => new Promise((done) => one.once('exit', done)));
  for (const child of living) child.kill('SIGKILL');
  await Promise.all(ended);
}

/** Checks that the vault equals one built in a single run that was not killed. */
async function assertWhole(place: Place, roots: readonly string[]): Promise<void> {
  const reference = join(place.top, 'reference');
  for (const root of roots) {
    const how = { root, workers: 1, parseCode: false };
    await indexFolder({ ...place.base(), ...how });
    await indexFolder({ ...place.base(), ...how, indexDir: reference });
  }
  const clean = openVault({ ...place.base(), indexDir: reference, backend: 'json_blocks' });
  const limit = { limit: 100_000 };
  for (const backend of BACKENDS) {
    const vault = place.open(backend);
    assert.equal(await vault.list(limit), await clean.list(limit));
    for (const query of ['word7 word8', 'file 11', 'turn']) {
      assert.equal(await vault.search(query), await clean.search(query), `${backend}: ${query}`);
    }
  }
  assert.is((await checkVault(place.indexDir)).status, 'ok');
  assert.equal(place.problems, []);
  await clean.close();
}

test('neither loses nor duplicates blocks when indexers are killed', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 300; file++) {
      place.write(`d${file % 9}/f${file}.md`, `# File ${file}\n\n${`word${file} `.repeat(300)}\n`);
    }
    const log = join(place.indexDir, 'blocks.jsonl');
    const size = (): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    for (const delayMs of [0, 2, 5]) {
      const before = size();
      const indexers = [1, 2].map(() => fork(CHILD, ['index', place.root, place.indexDir]));
      const giveUpMs = performance.now() + 120_000;
      while (size() <= before && performance.now() < giveUpMs) await pause(1);
      await pause(delayMs);
      await killAll(indexers);
      assert.ok(size() > before, 'was killed after its first write');
    }
    const { indexed } = await place.index();
    assert.ok(indexed > 0 && indexed < 300, `${indexed} files were left for the last run`);
    await assertWhole(place, [place.root]);
  }));

test('survives kills during indexing, compaction and filling of the database', () =>
  inPlace(async (place) => {
    const changing = join(place.top, 'changing');
    mkdirSync(changing);
    const write = (turn: number, files: number): void => {
      for (let file = 0; file < files; file++) {
        place.write(`f${file}.md`, `# File ${file}\n\n${`word${file} turn${turn} `.repeat(200)}\n`);
      }
    };
    write(0, 120);
    const seed = Date.now() % 100_000;
    process.stdout.write(`seed ${seed}\n`);
    const random = createRandom(seed);
    for (let round = 1; round <= 4; round++) {
      const children = [
        fork(CHILD, ['index', place.root, place.indexDir]),
        fork(CHILD, ['compact', changing, place.indexDir]),
        fork(CHILD, ['sqlite', place.root, place.indexDir]),
      ];
      try {
        await Promise.all(children.map(started));
        // The maximum duration of a run of this size.
        await pause(random() * 500);
      } finally {
        await killAll(children);
      }
      write(round, 40 + 10 * round);
    }
    await assertWhole(place, [place.root, changing]);
  }));

test('makes the second of two indexers wait, report that, and find nothing left to do', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 20; file++) place.write(`f${file}.md`, `number ${file} zebra`);
    const lock = openLock(layoutOf(place.indexDir).indexLock);
    const release = await lock.acquire();
    let waits = 0;
    const index = () =>
      indexFolder({
        ...place.base(),
        root: place.root,
        workers: 1,
        parseCode: false,
        onWait: () => void waits++,
      });
    const both = Promise.all([index(), index()]);
    const giveUpMs = performance.now() + 120_000;
    while (waits < 2 && performance.now() < giveUpMs) await pause(5);
    // Either of them would have started by then if it did not wait.
    await pause(100);
    assert.equal(
      [waits, statSync(join(place.indexDir, 'blocks.jsonl'), { throwIfNoEntry: false })],
      [2, undefined],
    );
    release();
    lock.close();
    const reports = await both;
    assert.equal(
      reports.map(({ indexed }) => indexed).toSorted((a, b) => a - b),
      [0, 20],
    );
  }));

test('does not treat a file that cannot be accessed as deleted', () =>
  inPlace(async (place) => {
    place.write('in/a.md', 'alpha');
    place.write('b.md', 'bravo');
    await place.index();
    // A link to itself: its target neither exists nor is missing.
    renameSync(join(place.root, 'in'), join(place.top, 'in'));
    symlinkSync('in', join(place.root, 'in'));
    assert.equal([(await place.index()).removed, (await place.open().list()).length], [0, 2]);
  }));

test.run();
