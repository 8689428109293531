import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { seal, unseal } from './seal.ts';

const KEY = 'a'.repeat(64);
const BYTES = Buffer.from('what the model said, and nobody else may read');

test('sealed data can be opened only with its own key', () => {
  const sealed = seal(BYTES, KEY);
  assert.ok(unseal(sealed, KEY)?.equals(BYTES));
  assert.is(unseal(sealed, 'b'.repeat(64)), undefined);
  assert.not.ok(sealed.includes(BYTES.subarray(0, 8)));
  assert.not.ok(sealed.equals(seal(BYTES, KEY)), 'the same answer is sealed differently each time');
  assert.ok(unseal(seal(Buffer.alloc(0), KEY), KEY)?.equals(Buffer.alloc(0)));
});

test('rejects changed, truncated and random data', () => {
  const sealed = seal(BYTES, KEY);
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    assert.is(unseal(changed, KEY), undefined, `byte ${at}`);
    assert.is(unseal(sealed.subarray(0, at), KEY), undefined, `cut at ${at}`);
  }
  assert.is(unseal(Buffer.from('rubbish'), KEY), undefined);
});

test.run();
