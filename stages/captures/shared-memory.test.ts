import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createSharedMemory } from './shared-memory.ts';

const MEBIBYTE = 1024 * 1024;
const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);

test('keeps copies unchanged in shared memory until they are released', () => {
  const memory = createSharedMemory();
  const held = Array.from({ length: 50 }, (_, value) => {
    const lease = memory.lease();
    const copies = [lease.copy([bytes(30_000, value), bytes(7, value)]), lease.copy([])];
    return { lease, copies };
  });
  held.forEach(({ copies: [copy, empty] }, value) => {
    assert.ok(copy!.buffer instanceof SharedArrayBuffer);
    assert.equal([...new Set(copy)], [value]);
    assert.equal([copy!.length, empty!.length], [30_007, 0]);
  });
});

test('reuses released memory, but never memory that a record still needs', () => {
  const memory = createSharedMemory();
  const slow = memory.lease();
  const kept = slow.copy([bytes(100, 1)]);
  const used = new Set<ArrayBufferLike>();
  for (let at = 0; at < 1000; at += 1) {
    const lease = memory.lease();
    used.add(lease.copy([bytes(200_000, 2)]).buffer);
    lease.release();
  }
  assert.ok(used.size <= 3, `${used.size} slabs for one record at a time`);
  assert.equal([...new Set(kept)], [1]);
});

test('gives a body larger than a slab memory of its own', () => {
  const lease = createSharedMemory().lease();
  const [large, small] = [lease.copy([bytes(3 * MEBIBYTE, 5)]), lease.copy([bytes(9, 6)])];
  assert.is(large.buffer.byteLength, 3 * MEBIBYTE);
  assert.is.not(small.buffer, large.buffer);
  lease.release();
});

test.run();
