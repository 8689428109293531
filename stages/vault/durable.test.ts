/** Which data must be on disk before it is acknowledged, and which may be removed from it. */
import { readFileSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { indexFolder } from './indexing/indexer.ts';
import { BACKENDS } from './backends/block-index.ts';
import { inPlace, type Place } from '../../fixtures/vault/place.ts';

type Syncing = Record<'datasync' | 'sync', () => Promise<void>>;

/**
 * Records, while `use` runs, the content of a file after each of its syncs; nothing for a folder.
 */
async function synced(path: string, use: (notes: string[]) => Promise<void>): Promise<void> {
  const notes: string[] = [];
  const probe = await open('/', 'r');
  const shared = Object.getPrototypeOf(probe) as Syncing;
  await probe.close();
  const real = { datasync: shared.datasync, sync: shared.sync };
  for (const name of ['datasync', 'sync'] as const) {
    shared[name] = async function noted(this: FileHandle) {
      const isFile = (await this.stat()).isFile();
      const text = isFile ? readFileSync(path, 'utf8') : 'folder';
      await real[name].call(this);
      notes.push(text);
    };
  }
  try {
    await use(notes);
  } finally {
    Object.assign(shared, real);
  }
}

test('syncs an ingested block, and the name of a new log, before it reports success', () =>
  inPlace(async (place) => {
    const log = join(place.indexDir, 'blocks.jsonl');
    await synced(log, async (notes) => {
      for (const [turn, backend] of BACKENDS.entries()) {
        const vault = place.open(backend);
        await vault.ingest([{ content: `quagga ${backend}` }]);
        const texts = notes.splice(0);
        assert.is(texts[0]?.includes(`quagga ${backend}`), true, backend);
        assert.equal(texts.slice(1), turn === 0 ? ['folder'] : []);
      }
    });
  }));

test('ends an indexing run with a sync', () =>
  inPlace(async (place) => {
    place.write('a.md', 'the quagga was a zebra');
    await synced(join(place.indexDir, 'blocks.jsonl'), async (notes) => {
      await place.index();
      assert.ok(notes.some((text) => text.includes('quagga')));
    });
  }));

const sizeOf = ({ indexDir }: Place): number => statSync(join(indexDir, 'blocks.jsonl')).size;

test('rewrites a large log when more than half of it is obsolete', () =>
  inPlace(async (place) => {
    const index = (compactBytes?: number) =>
      indexFolder({
        ...place.base(),
        root: place.root,
        workers: 1,
        parseCode: false,
        ...(compactBytes !== undefined && { compactBytes }),
      });
    const change = (turn: number): void =>
      place.write('a.md', `turn ${turn} ${'zebra '.repeat(500)}`);
    place.write('b.md', 'quagga '.repeat(400));
    change(0);
    await index();
    const once = sizeOf(place);
    change(1);
    await index(1_000);
    const twice = sizeOf(place);
    assert.ok(twice > once * 1.4, 'it is kept while half of it is in use');
    change(2);
    await index();
    change(3);
    await index();
    const before = sizeOf(place);
    assert.ok(before > twice * 1.4, 'too small to be worth it');
    const vault = place.open('sqlite');
    assert.is((await vault.search('turn 3'))[0]?.sourcePath, 'a.md');
    change(4);
    await index(1_000);
    assert.ok(sizeOf(place) < once * 1.2, `${sizeOf(place)} of ${before}`);
    for (const one of [vault, place.open()]) {
      assert.match((await one.search('turn zebra'))[0]!.content, /^turn 4/);
      assert.is((await one.search('quagga'))[0]?.sourcePath, 'b.md');
    }
  }));

test.run();
