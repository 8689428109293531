import { fork } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/clock.ts';
import { isSvcError } from '../../engine/error.ts';
import type { BackendName } from './block-index.ts';
import { checkVault, rebuildVault } from './health.ts';
import { indexFolder } from './indexer.ts';
import type { IndexReport } from './index-run.ts';
import { toIngestBlock } from './ingest.ts';
import { openVault, type Vault, type VaultTrouble } from './vault.ts';
import { watchFolder } from './watch.ts';

const BACKENDS: readonly BackendName[] = ['json_blocks', 'sqlite'];

/** A folder of files, an index folder beside it, and vaults that are closed at the end. */
class Place {
  readonly top = mkdtempSync(join(tmpdir(), 'svc-vault-'));
  readonly root = join(this.top, 'files');
  readonly indexDir = join(this.top, 'index');
  readonly troubles: VaultTrouble[] = [];
  readonly #vaults: Vault[] = [];
  #ids = 0;

  constructor() {
    mkdirSync(this.root);
  }

  base() {
    return {
      indexDir: this.indexDir,
      clock: systemClock,
      newId: () => `${this.top}-${++this.#ids}`,
    };
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  index(): Promise<IndexReport> {
    return indexFolder({ ...this.base(), root: this.root, workers: 1, parseCode: false });
  }

  open(backend: BackendName = 'json_blocks'): Vault {
    const vault = openVault({
      ...this.base(),
      backend,
      onTrouble: (trouble) => void this.troubles.push(trouble),
    });
    this.#vaults.push(vault);
    return vault;
  }

  async close(): Promise<void> {
    for (const vault of this.#vaults) await vault.close();
    rmSync(this.top, { recursive: true });
  }
}

async function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = new Place();
  try {
    await use(place);
  } finally {
    await place.close();
  }
}

test('a file is found with its lines, its score and the hit in its snippet', () =>
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

test('both backends give the same blocks, the same scores, in the same order', () =>
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

test('indexing again reads only what changed, and forgets what is gone', () =>
  inPlace(async (place) => {
    for (const name of ['a', 'b', 'c']) place.write(`${name}.md`, `text of ${name}`);
    const old = new Date(Date.now() - 60_000);
    for (const name of ['a', 'b', 'c']) utimesSync(join(place.root, `${name}.md`), old, old);
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

test('a change that keeps size and time within one tick is seen all the same', () =>
  inPlace(async (place) => {
    place.write('a.md', 'first words');
    const { mtime } = statSync(join(place.root, 'a.md'));
    await place.index();
    place.write('a.md', 'other words');
    utimesSync(join(place.root, 'a.md'), mtime, mtime);
    assert.is((await place.index()).indexed, 1);
  }));

test('a folder inside an indexed one adds nothing twice, and one around it takes it over', () =>
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

test('a folder that cannot be read takes nothing away', () =>
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

test('only safe blocks are found, unless all are asked for', () =>
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

test('an ingested block is durable, found at once, and taken once', () =>
  inPlace(async (place) => {
    for (const backend of BACKENDS) {
      const vault = place.open(backend);
      const block = toIngestBlock({
        block_id: `b-${backend}`,
        content: `gyroscope drift ${backend}`,
      });
      const [first] = await vault.ingest([block]);
      assert.ok(first?.ok === true && first.stored && first.tokens > 0);
      assert.is((await vault.search('gyroscopic'))[0]?.id.startsWith('b-'), true);
      const [again, clash, fresh] = await vault.ingest([
        block,
        { ...block, content: 'something else' },
        { content: `no id ${backend}`, riskClass: 'internal' },
      ]);
      assert.ok(again?.ok === true && !again.stored);
      assert.ok(clash?.ok === false && clash.error.kind === 'conflict');
      assert.ok(fresh?.ok === true && fresh.id.startsWith('ingest-'));
      const reopened = place.open(backend);
      assert.is((await reopened.search(backend, { includeUnsafe: true })).length, 2);
    }
    assert.is((await place.open().status()).blocks, 4);
  }));

test('concurrent ingestion from two vaults loses and doubles nothing', () =>
  inPlace(async (place) => {
    const vaults = [place.open('json_blocks'), place.open('sqlite')];
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        vaults[at % 2]!.ingest([{ id: `id${at % 20}`, content: `text ${at % 20}` }]),
      ),
    );
    const stored = results.flat().filter((result) => result.ok && result.stored);
    assert.is(stored.length, 20);
    for (const vault of vaults) assert.is((await vault.status()).blocks, 20);
    assert.is((await checkVault(place.indexDir)).status, 'ok');
  }));

test('what is wrong with a block is said in the specification’s words', () => {
  const faults: [unknown, string, string | undefined][] = [
    [{}, 'bad_request', 'VALIDATION_002'],
    [{ content: 5 }, 'bad_request', 'VALIDATION_003'],
    ['text', 'bad_request', 'VALIDATION_003'],
    [{ content: ' ' }, 'unprocessable', undefined],
    [{ content: 'x', block_id: 'a b' }, 'unprocessable', undefined],
    [{ content: 'x', source_path: 'a\nb' }, 'unprocessable', undefined],
    [{ content: 'x'.repeat(1_048_577) }, 'payload_too_large', undefined],
  ];
  for (const [value, kind, code] of faults) {
    try {
      toIngestBlock(value);
      assert.unreachable(JSON.stringify(value).slice(0, 50));
    } catch (error) {
      assert.ok(isSvcError(error));
      assert.equal([error.kind, error.code], [kind, code]);
    }
  }
});

test('a damaged log is moved aside, told of, and made whole from the files', () =>
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
    assert.is(place.troubles.length, 1);
    assert.equal(readFileSync(place.troubles[0]!.movedTo), bytes);
    const health = await checkVault(place.indexDir);
    assert.equal([health.status, health.files, health.movedAside.length], ['ok', 20, 1]);
  }));

test('damage under an open vault is never returned as text', () =>
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
    assert.is(place.troubles.length, 1);
  }));

test('a damaged database is moved aside and made again from the log', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const first = place.open('sqlite');
    await first.search('zebra');
    await first.close();
    writeFileSync(join(place.indexDir, 'blocks.db'), 'this is no database'.repeat(1000));
    const second = place.open('sqlite');
    assert.is((await second.search('zebra')).length, 1);
    assert.is(place.troubles.length, 1);
    assert.ok(existsSync(place.troubles[0]!.movedTo));
  }));

test('a rebuild reads the files again and keeps what was ingested', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    const vault = place.open('sqlite');
    await vault.ingest([{ id: 'kept', content: 'ingested zebra' }]);
    const rebuilt = await rebuildVault(place.base());
    assert.equal(
      rebuilt.reports.map(({ indexed }) => indexed),
      [1],
    );
    assert.equal((await vault.search('zebra')).map(({ id }) => id).includes('kept'), true);
    assert.is((await vault.status()).blocks, 2);
  }));

test('nothing that a vault writes is open to others, whatever the umask', () =>
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

test('no vault is empty, unavailable and harmless', () =>
  inPlace(async (place) => {
    const vault = place.open();
    assert.equal(await vault.search('anything'), []);
    assert.is((await vault.status()).available, false);
    assert.not.ok(existsSync(place.indexDir));
  }));

test('indexers that are killed at any moment leave nothing lost and nothing doubled', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 300; file++) {
      place.write(`d${file % 9}/f${file}.md`, `# File ${file}\n\n${`word${file} `.repeat(300)}\n`);
    }
    const child = fileURLToPath(new URL('./vault-kill-child.js', import.meta.url));
    for (const delayMs of [130, 170, 210]) {
      const indexers = [1, 2].map(() => fork(child, [place.root, place.indexDir]));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      for (const indexer of indexers) indexer.kill('SIGKILL');
      await Promise.all(indexers.map((one) => new Promise((done) => one.once('exit', done))));
    }
    await place.index();
    const reference = join(place.top, 'reference');
    await indexFolder({ ...place.base(), indexDir: reference, root: place.root, workers: 1 });
    const clean = openVault({ ...place.base(), indexDir: reference, backend: 'json_blocks' });
    const limit = { limit: 100_000 };
    for (const backend of BACKENDS) {
      assert.equal(await place.open(backend).list(limit), await clean.list(limit));
    }
    assert.is((await checkVault(place.indexDir)).status, 'ok');
    await clean.close();
  }));

test('a change is found within a second of being made', () =>
  inPlace(async (place) => {
    place.write('.gitignore', '*.tmp\n');
    place.write('a.md', 'alpha');
    const watch = await watchFolder({ ...place.base(), root: place.root, workers: 1 });
    const vault = place.open();
    const until = async (check: () => Promise<boolean>): Promise<number> => {
      const startMs = performance.now();
      while (!(await check())) {
        if (performance.now() - startMs > 5_000) throw new Error('never');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return performance.now() - startMs;
    };
    const found = async (word: string): Promise<number> => (await vault.search(word)).length;
    try {
      assert.is(await found('alpha'), 1);
      place.write('sub/b.md', 'bravo');
      place.write('sub/c.tmp', 'bravo');
      await until(async () => (await found('bravo')) === 1);
      place.write('sub/b.md', 'charlie');
      const changedMs = await until(async () => (await found('charlie')) === 1);
      assert.ok(changedMs < 1_000, `${changedMs} ms`);
      assert.is(await found('bravo'), 0);
      rmSync(join(place.root, 'sub'), { recursive: true });
      await until(async () => (await found('charlie')) === 0);
    } finally {
      await watch.close();
    }
  }));

test.run();
