import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../sqlite.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { forgetFolder } from './forget.ts';
import { inPlace, type Place } from '../../../fixtures/vault/place.ts';

const forget = (place: Place) => forgetFolder({ ...place.base(), root: place.root });

/** Returns the files of the index that contain `word`. */
function filesWith({ indexDir }: Place, word: string): string[] {
  return readdirSync(indexDir).filter((name) => readFileSync(join(indexDir, name)).includes(word));
}

test('removes every trace of a folder from the index files, whether or not the vault is open', () =>
  inPlace(async (place) => {
    place.write('a.md', 'the quagga was a zebra');
    for (const isOpen of [false, true]) {
      await place.index();
      const vault = place.open('sqlite');
      await vault.ingest([{ id: 'kept', content: 'ingested zebra' }]);
      assert.is((await vault.search('quagga')).length, 1);
      assert.ok(filesWith(place, 'quagga').length > 1);
      if (!isOpen) await vault.close();
      const { files, remaining } = await forget(place);
      assert.equal([files, remaining], [1, []]);
      assert.equal(filesWith(place, 'quagga'), [], `open: ${isOpen}`);
      const user = isOpen ? vault : place.open('sqlite');
      assert.equal(
        (await user.search('zebra')).map(({ id }) => id),
        ['kept'],
      );
      assert.equal(filesWith(place, 'quagga'), []);
    }
    assert.equal(place.problems, []);
  }));

test('reports copies that were moved aside earlier, and leaves the database of another program alone', () =>
  inPlace(async (place) => {
    place.write('a.md', 'the quagga was a zebra');
    await place.index();
    const log = join(place.indexDir, 'blocks.jsonl');
    const bytes = readFileSync(log);
    bytes[bytes.indexOf('zebra')]! ^= 1;
    writeFileSync(log, bytes);
    const vault = place.open();
    await vault.search('quagga');
    await vault.settled();
    const path = join(place.indexDir, 'blocks.db');
    const database = new Database(path);
    database.exec("CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('me')");
    database.close();
    const before = readFileSync(path);
    assert.equal((await forget(place)).remaining, [place.problems[0]!.movedTo]);
    assert.equal(readFileSync(path), before);
    assert.equal(filesWith(place, 'quagga').length, 1);
  }));

test.run();
