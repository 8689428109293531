/** One database, several processes: a search never sees another one's changes half done. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteIndex } from './backends/sqlite-fts.ts';
import { inPlace } from '../../fixtures/vault/place.ts';

test('brings a database up to date that another process has reset, before searching it', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 30; file++) place.write(`f${file}.md`, `number ${file} zebra`);
    await place.index();
    const vault = place.open('sqlite');
    assert.is((await vault.search('zebra', { top: 50 })).length, 30);
    const found = await vault.search('number 7');
    const other = openSqliteIndex(join(place.indexDir, 'blocks.db'));
    other.reset('another log');
    assert.equal(await vault.withdrawn(found), []);
    other.reset('another log');
    assert.is((await vault.search('zebra', { top: 50 })).length, 30);
    assert.is((await vault.search('number 7'))[0]?.sourcePath, 'f7.md');
    other.close();
    assert.equal(place.problems, []);
  }));

test('does not read an index while another process changes it', () =>
  inPlace(async (place) => {
    place.write('a.md', 'zebra');
    await place.index();
    await place.open('sqlite').status();
    const path = join(place.indexDir, 'blocks.db');
    const [mine, others] = [openSqliteIndex(path), openSqliteIndex(path)];
    const size = (): number | undefined => mine.read(() => ({ size: mine.corpus.size }))?.size;
    assert.is(size(), undefined, 'before anything was read');
    await mine.resume!();
    assert.is(size(), 1);
    const seen = mine.read(() => {
      others.reset('another log');
      return { blocks: mine.totals().blocks };
    });
    assert.equal(seen, { blocks: 1 }, 'rows read together are from one snapshot');
    assert.is(size(), undefined, 'after another process changed it');
    await mine.resume!();
    assert.is(size(), 0);
    for (const index of [mine, others]) index.close();
  }));

test.run();
