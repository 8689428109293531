import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { textId } from './fetch-tool.ts';
import { createOriginals } from './originals.ts';

const block = {
  index: 3,
  toolName: 'Bash',
  by: ['log-reduce'],
  kind: 'log',
  before: 'one\ntwo\nthree',
  after: 'one',
  tokensBefore: 5,
  tokensAfter: 1,
};

test('a block keeps its id in every turn, and each request has its own position for it', () => {
  const originals = createOriginals();
  originals.keep('r1', 'c', [block]);
  originals.keep('r2', 'c', [{ ...block, index: 7 }]);
  const [first] = originals.ofRequest('r1') ?? [];
  const [second] = originals.ofRequest('r2') ?? [];
  assert.is(first?.id, second?.id);
  assert.equal([first?.index, second?.index], [3, 7]);
  assert.is(originals.get(first!.id)?.before, block.before);
  assert.is(originals.lastRequestId, 'r2');
});

test('a block has the same id in the next turn as in another conversation', () => {
  const originals = createOriginals();
  const ids = ['c', 'c', 'd'].map((conversation, turn) => {
    originals.keep(`r${turn}`, conversation, [block, { ...block, index: 5, before: `${turn}` }]);
    return originals.ofRequest(`r${turn}`)!.map(({ id }) => id);
  });
  assert.is(new Set(ids.map(([id]) => id)).size, 1);
  assert.is(new Set(ids.map(([, id]) => id)).size, 3);
});

test('the same text shortened in two ways is stored twice', () => {
  const originals = createOriginals();
  originals.keep('hybrid', 'c', [block]);
  originals.keep('aggressive', 'c', [{ ...block, after: 'three' }]);
  assert.is(originals.ofRequest('hybrid')?.[0]?.after, 'one');
  assert.is(originals.ofRequest('aggressive')?.[0]?.after, 'three');
});

test('a request without changes does not become the last changed request', () => {
  const originals = createOriginals();
  assert.is(originals.lastRequestId, undefined);
  originals.keep('r1', 'c', [block]);
  originals.keep('r2', 'c', []);
  assert.is(originals.lastRequestId, 'r1');
  assert.is(originals.ofRequest('r2'), undefined);
});

test('a text is found by its own id as long as a block with it is stored', () => {
  const originals = createOriginals();
  originals.keep('hybrid', 'c', [block]);
  originals.keep('aggressive', 'c', [{ ...block, after: 'three' }]);
  const id = textId(block.before);
  assert.match(id, /^[\w-]{12}$/);
  assert.is(originals.get(id)?.before, block.before);
  const big = { ...block, before: 'x'.repeat(6 * 1024 * 1024) };
  originals.keep('r1', 'c', [big]);
  // A block that is kept again is no longer the oldest.
  originals.keep('r2', 'c', [block]);
  for (let n = 0; n < 2; n++)
    originals.keep(`r${n}`, 'c', [{ ...big, before: `${n}${big.before}` }]);
  assert.is(originals.get(id)?.before, block.before);
  assert.is(originals.get(textId(big.before)), undefined);
});

test('the oldest texts are evicted first', () => {
  const originals = createOriginals();
  const big = 'x'.repeat(6 * 1024 * 1024);
  for (let n = 0; n < 4; n++) originals.keep(`r${n}`, 'c', [{ ...block, before: `${n}${big}` }]);
  assert.equal(originals.ofRequest('r0'), []);
  assert.is(originals.ofRequest('r3')?.length, 1);
});

test.run();
