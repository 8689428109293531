import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { measureGrowth, MOST_GROWTH } from '../../fixtures/growth.ts';
import { withoutMembers } from './without-members.ts';

/** Of 200,000 members. */
const LIMIT_MS = 2000;

test('two hundred thousand members are no more work each than fifty thousand', () => {
  const objectOf = (size: 1 | 4): Buffer =>
    Buffer.from(`{"drop":1${',"a":1'.repeat(size * 50_000)}}`);
  const { ratio, fourMs } = measureGrowth(objectOf, (bytes) => {
    const left = withoutMembers(bytes, (name) => name === 'drop');
    assert.is(left.length, bytes.length - '"drop":1,'.length);
  });
  assert.ok(ratio < MOST_GROWTH, `${ratio} times`);
  assert.ok(fourMs < LIMIT_MS, `${fourMs} ms`);
});

test.run();
