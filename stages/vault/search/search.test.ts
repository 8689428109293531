import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BlockIndex } from '../backends/block-index.ts';
import { createMemoryIndex } from '../backends/json-blocks.ts';
import { layoutOf } from '../log/layout.ts';
import { LogFollower } from '../log/log.ts';
import { searchIndex, type SearchHit, type SearchOptions } from './search.ts';
import { Tokenizer } from '../words/tokenize.ts';
import { inPlace, type Place } from '../../../fixtures/vault/place.ts';

type Search = (options: SearchOptions) => { readonly hits: SearchHit[]; readonly read: number };

/**
 * Passes `use` a search for `query` in the files of a place, which also tells how many block texts
 * were read.
 */
async function searching(
  { indexDir }: Place,
  query: string,
  use: (search: Search) => void,
): Promise<void> {
  const memory = createMemoryIndex();
  const follower = new LogFollower(layoutOf(indexDir).log, memory);
  await follower.catchUp();
  const tokenizer = new Tokenizer();
  use((options) => {
    let read = 0;
    const locate: BlockIndex['locate'] = (block) => {
      read++;
      return memory.locate(block);
    };
    const index: BlockIndex = { ...memory, locate };
    return { hits: searchIndex(index, follower.fd, tokenizer, query, options), read };
  });
  await follower.close();
}

const pathsOf = (hits: readonly SearchHit[]): string[] => hits.map(({ sourcePath }) => sourcePath);

test('returns each text once if asked to, without reading its copies', () =>
  inPlace(async (place) => {
    const copy = 'The flumbrick gate opens, and the gate closes.\n';
    for (let file = 0; file < 300; file++) place.write(`c${100 + file}.md`, copy);
    place.write(
      'other.md',
      'About the gate it is also told, at some length, that a lamp hangs there.\n',
    );
    await place.index();
    await searching(place, 'flumbrick gate', (search) => {
      const all = search({ top: 3 });
      assert.equal(pathsOf(all.hits), ['c100.md', 'c101.md', 'c102.md']);
      const once = search({ top: 3, distinct: true });
      assert.equal([pathsOf(once.hits), once.read], [['c100.md', 'other.md'], 2]);
      const except = new Set([all.hits[1]!.id]);
      assert.equal(pathsOf(search({ top: 2, except }).hits), ['c100.md', 'c102.md']);
      const others = search({ top: 3, distinct: true, except });
      assert.equal([pathsOf(others.hits), others.read], [['other.md'], 1]);
      assert.equal(search({ top: 3, distinct: true, minScore: 1_000 }), { hits: [], read: 0 });
    });
  }));

test('reads no more blocks than requested if there are no copies', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 40; file++) {
      place.write(`f${file}.md`, `gate ${'word '.repeat(file)}\n`);
    }
    await place.index();
    await searching(place, 'gate', (search) => {
      const few = search({ top: 4, distinct: true });
      assert.equal(few, search({ top: 4 }));
      assert.is(few.read, 4);
      assert.equal(search({ top: 0 }), { hits: [], read: 0 });
    });
  }));

test.run();
