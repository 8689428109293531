import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedBytes } from './shared-bytes.ts';

test('finds the first byte that differs, wherever it is', () => {
  const one = Buffer.alloc(200_000, 'abcdefg');
  for (const at of [0, 1, 65_535, 65_536, 65_537, 131_071, 131_072, 199_999]) {
    const other = Buffer.from(one);
    other[at] = 0;
    assert.is(sharedBytes(one, other), at);
  }
});

test('a buffer that the other one begins with is shared as a whole', () => {
  const one = Buffer.alloc(70_000, 'xyz');
  assert.is(sharedBytes(one, one.subarray(0, 69_999)), 69_999);
  assert.is(sharedBytes(one.subarray(0, 3), one), 3);
  assert.is(sharedBytes(one, one), 70_000);
  assert.is(sharedBytes(one, Buffer.alloc(0)), 0);
});

test.run();
