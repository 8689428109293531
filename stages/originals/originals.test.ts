import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLostBlocks } from './originals.ts';

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

test('a block keeps its id from turn to turn, and each request its own place for it', () => {
  const lost = createLostBlocks();
  lost.keep('r1', [block]);
  lost.keep('r2', [{ ...block, index: 7 }]);
  const [first] = lost.ofRequest('r1') ?? [];
  const [second] = lost.ofRequest('r2') ?? [];
  assert.is(first?.id, second?.id);
  assert.equal([first?.index, second?.index], [3, 7]);
  assert.is(lost.get(first!.id)?.before, block.before);
  assert.is(lost.lastRequestId, 'r2');
});

test('the same text shortened in two ways is kept twice', () => {
  const lost = createLostBlocks();
  lost.keep('hybrid', [block]);
  lost.keep('aggressive', [{ ...block, after: 'three' }]);
  assert.is(lost.ofRequest('hybrid')?.[0]?.after, 'one');
  assert.is(lost.ofRequest('aggressive')?.[0]?.after, 'three');
});

test('a request that lost nothing is not the last one that did', () => {
  const lost = createLostBlocks();
  assert.is(lost.lastRequestId, undefined);
  lost.keep('r1', [block]);
  lost.keep('r2', []);
  assert.is(lost.lastRequestId, 'r1');
  assert.is(lost.ofRequest('r2'), undefined);
});

test('the oldest texts give way', () => {
  const lost = createLostBlocks();
  const big = 'x'.repeat(6 * 1024 * 1024);
  for (let n = 0; n < 4; n++) lost.keep(`r${n}`, [{ ...block, before: `${n}${big}` }]);
  assert.equal(lost.ofRequest('r0'), []);
  assert.is(lost.ofRequest('r3')?.length, 1);
});

test.run();
