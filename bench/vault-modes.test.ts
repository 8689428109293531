import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom } from '../fixtures/random.ts';
import { benchVault } from './vault-modes.ts';
import { measureRetrieval, scoreGap } from './vault-quality.ts';
import { makeQueries } from './vault-tree.ts';

test('a small run of the vault measures and judges everything', async () => {
  const { run, verdicts, text } = await benchVault(12, () => undefined, 4);
  assert.equal(
    run.queries.map(({ backend, length }) => `${backend} ${length}`),
    ['json_blocks short', 'json_blocks long', 'sqlite short', 'sqlite long'],
  );
  assert.ok(verdicts.every(({ value }) => value > 0));
  assert.match(text, /prose cold[^]*a change is found/);
});

test('long queries have 32 different words, short ones 3 to 12', () => {
  const lengths = (range?: readonly [number, number]) =>
    makeQueries(40, 7, range).map((query) => new Set(query.split(' ')).size);
  assert.equal(new Set(lengths([32, 32])), new Set([32]));
  assert.ok(lengths().every((length) => length >= 3 && length <= 12));
});

test('retrieval is perfect if every query names its document', async () => {
  const random = createRandom(3);
  const docs = Array.from({ length: 20 }, (_, n) => ({
    id: `d${n}`,
    title: '',
    text: `word${n} ${'filler '.repeat(1 + Math.floor(random() * 5))}`,
  }));
  const queries = docs.map(({ id }, n) => ({ id, text: `word${n}` }));
  const relevance = new Map(docs.map(({ id }) => [id, new Map([[id, 1]])]));
  const collection = { docs, queries, relevance };
  const [memory, sqlite] = [
    await measureRetrieval(collection, 'json_blocks'),
    await measureRetrieval(collection, 'sqlite'),
  ];
  assert.equal([memory.ndcg10, sqlite.ndcg10, scoreGap(memory, sqlite)], [1, 1, 0]);
  const reversed = { ...memory, hits: memory.hits.toReversed() };
  assert.is(scoreGap(memory, reversed), Infinity);
});

test.run();
