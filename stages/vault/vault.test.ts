import {
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { forgetFolder } from './indexing/forget.ts';
import { checkVault, rebuildVault } from './log/health.ts';
import { indexFolder } from './indexing/indexer.ts';
import { createReadPool } from './read/read-pool.ts';
import { BACKENDS } from './backends/block-index.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

test('finds a file with its lines, its score and the highlighted snippet', () =>
  inPlace(async (place) => {
    place.write('notes/wind.md', '# Wind tunnel\n\nThe calibration of the balance took a week.\n');
    place.write('notes/other.md', '# Other\n\nNothing to see.\n');
    await place.index();
    for (const backend of BACKENDS) {
      const [hit, ...rest] = await place.open(backend).search('calibrating balances');
      assert.is(rest.length, 0);
      assert.is(hit?.sourcePath, 'notes/wind.md');
      assert.equal([hit?.startLine, hit?.endLine, hit?.snippet.line], [1, 3, 3]);
      const marked = hit?.snippet.hits.map(([from, to]) => hit.snippet.text.slice(from, to));
      assert.equal(marked, ['calibration', 'balance']);
      assert.ok(hit!.score > 1);
    }
  }));

test('gives the same blocks and scores in the same order in both backends', () =>
  inPlace(async (place) => {
    const words =
      'flow wing shock layer heat mach body plate drag lift indexFolder raw_tokens'.split(' ');
    for (let file = 0; file < 60; file++) {
      const text = Array.from({ length: 40 }, (_, at) => words[(at * 7 + file) % (6 + (file % 8))]);
      place.write(`d${file % 5}/f${file}.md`, `${text.join(' ')}\n`);
    }
    await place.index();
    const [memory, sqlite] = [place.open('json_blocks'), place.open('sqlite')];
    const compareAll = async (): Promise<void> => {
      const long = Array.from({ length: 60 }, (_, at) => `${words[at % words.length]} w${at}`).join(
        ' ',
      );
      for (const query of ['wing', 'shock layer flow', 'indexfolder tokens', 'd3/f13.md', long]) {
        const [a, b] = [await memory.search(query), await sqlite.search(query)];
        assert.ok(a.length > 0, query);
        assert.equal(a, b, query);
      }
    };
    await compareAll();
    place.write('d1/f1.md', 'wing wing shock\n');
    rmSync(join(place.root, 'd2'), { recursive: true });
    await place.index();
    await compareAll();
    assert.equal(await memory.status(), { ...(await sqlite.status()), backend: 'json_blocks' });
    assert.equal(await memory.list(), await sqlite.list());
  }));

test('reads only changed files when it indexes again, and drops deleted ones', () =>
  inPlace(async (place) => {
    for (const name of ['a', 'b', 'c']) place.write(`${name}.md`, `text of ${name}`);
    const old = new Date(Date.now() - 60_000);
    for (const name of ['a', 'b', 'c']) utimesSync(join(place.root, `${name}.md`), old, old);
    // Longer than the resolution of file system clocks, so that timestamps prove something.
    await pause(2_100);
    assert.is((await place.index()).indexed, 3);
    const again = await place.index();
    assert.equal([again.indexed, again.unchanged, again.removed], [0, 3, 0]);
    place.write('a.md', 'text of A');
    rmSync(join(place.root, 'b.md'));
    utimesSync(join(place.root, 'c.md'), new Date(), new Date());
    const third = await place.index();
    assert.equal([third.indexed, third.unchanged, third.removed, third.files], [1, 0, 1, 2]);
    const list = await place.open().list();
    assert.equal(
      list.map(({ sourcePath }) => sourcePath),
      ['a.md', 'c.md'],
    );
  }));

test('notices a change that keeps the size and modification time', () =>
  inPlace(async (place) => {
    place.write('a.md', 'first words');
    const { mtime } = statSync(join(place.root, 'a.md'));
    await place.index();
    place.write('a.md', 'other words');
    utimesSync(join(place.root, 'a.md'), mtime, mtime);
    assert.is((await place.index()).indexed, 1);
  }));

test('rereads a file that is replaced by one of the same size and time', () =>
  inPlace(async (place) => {
    const path = join(place.root, 'a.md');
    const old = new Date(Date.now() - 60_000);
    place.write('a.md', 'first words');
    utimesSync(path, old, old);
    await place.index();
    await pause(2_100);
    await place.index();
    place.write('b.md', 'zebra words');
    utimesSync(join(place.root, 'b.md'), old, old);
    renameSync(join(place.root, 'b.md'), path);
    assert.is((await place.index()).indexed, 1);
    assert.is((await place.open().search('zebra'))[0]?.sourcePath, 'a.md');
  }));

test('adds no duplicates for a folder inside an indexed one, and merges it into an outer one', () =>
  inPlace(async (place) => {
    place.write('in/a.md', 'alpha');
    place.write('b.md', 'beta');
    const base = { ...place.base(), workers: 1 };
    await indexFolder({ ...base, root: join(place.root, 'in') });
    await place.index();
    await indexFolder({ ...base, root: join(place.root, 'in') });
    const list = await place.open().list();
    assert.equal(
      list.map(({ sourcePath }) => sourcePath),
      ['b.md', 'in/a.md'],
    );
  }));

test('keeps the index of an inner folder separate if the outer one ignores it', () =>
  inPlace(async (place) => {
    place.write('.gitignore', 'private/\n');
    place.write('private/a.md', 'alpha');
    place.write('b.md', 'beta');
    const inner = join(place.root, 'private');
    const base = { ...place.base(), workers: 1 };
    const paths = async (): Promise<string[]> =>
      (await place.open().list()).map(({ root, sourcePath }) => join(root, sourcePath));
    const both = ['.gitignore', 'b.md', 'private/a.md'].map((path) => join(place.root, path));
    await indexFolder({ ...base, root: inner });
    // Work that the inner run left undone is not done by the outer one either.
    const stop = new AbortController();
    stop.abort();
    await rebuildVault({ ...base, signal: stop.signal });
    const report = await place.index();
    assert.is(report.removed, 0);
    assert.match((await checkVault(place.indexDir)).reasons.join(), /private has not been read/);
    assert.is((await indexFolder({ ...base, root: inner })).indexed, 1);
    assert.is((await place.index()).removed, 0);
    assert.equal(await paths(), both);
    assert.is((await checkVault(place.indexDir)).status, 'ok');
  }));

test('resolves a symbolic link to its folder, and does not index the index', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    await place.index();
    const link = join(place.top, 'link');
    symlinkSync(place.root, link);
    const indexDir = join(link, '.index');
    for (const options of [{}, { indexDir }, { indexDir }]) {
      const report = await indexFolder({ ...place.base(), workers: 1, root: link, ...options });
      assert.equal([report.root, report.files], [realpathSync(place.root), 1]);
    }
    assert.is((await place.open().list()).length, 1);
    assert.is((await forgetFolder({ ...place.base(), root: link })).files, 1);
    assert.is((await place.open('sqlite').list()).length, 0);
  }));

test('keeps the blocks of a folder that cannot be read', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    await place.index();
    rmSync(place.root, { recursive: true });
    try {
      await place.index();
      assert.unreachable();
    } catch (error) {
      assert.ok(isSvcError(error) && error.kind === 'not_found');
    }
    assert.is((await place.open().search('alpha')).length, 1);
  }));

test('keeps the blocks of a file that cannot be read', () =>
  inPlace(async (place) => {
    place.write('a.md', 'alpha');
    await place.index();
    place.write('a.md', 'bravo and more');
    // It reads nothing, whatever task it is given.
    const pool = createReadPool(1, { parseCode: false });
    await pool.close();
    const report = await indexFolder({ ...place.base(), root: place.root, pool });
    assert.equal([report.removed, report.files, report.skipped], [0, 1, { unreadable: 1 }]);
    assert.is((await place.open().search('alpha')).length, 1);
    assert.is((await place.index()).indexed, 1);
  }));

test('finds only safe blocks, unless unsafe ones are requested', () =>
  inPlace(async (place) => {
    place.write('deploy.md', `The deploy password = "${'kT9$vq2!mZx4'}"\n`);
    place.write('package-lock.json', '{"deploy": true}');
    place.write('plain.md', 'How to deploy\n');
    await place.index();
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      const paths = (hits: { sourcePath: string }[]): string[] => hits.map((hit) => hit.sourcePath);
      assert.equal(paths(await vault.search('deploy', { top: 1 })), ['plain.md']);
      const all = await vault.search('deploy', { includeUnsafe: true });
      assert.equal(paths(all).toSorted(), ['deploy.md', 'package-lock.json', 'plain.md']);
    }
  }));

test('is empty and unavailable without an index, and creates no files', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      assert.equal(await vault.search('anything'), []);
      const { available, backend: reported, roots } = await vault.status();
      assert.equal([available, reported, roots], [false, backend, []]);
      assert.not.ok(existsSync(place.indexDir), backend);
      await place.index();
      assert.is((await vault.search('zebra')).length, 1);
      assert.is((await vault.status()).backend, backend);
      assert.is(existsSync(join(place.indexDir, 'blocks.db')), backend === 'sqlite');
      rmSync(place.indexDir, { recursive: true });
    }
  }));

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test.run();
