import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { placeOf, sharedName, thisMachine } from './key-names.ts';

test('a key name shows its kind and nothing of its content', () => {
  const name = sharedName('rate', '10.0.0.7');
  assert.match(name, /^svc:1:rate:[\w-]{43}$/);
  assert.not.match(name, '10.0.0');
  assert.is(sharedName('rate', '10.0.0.7'), name);
});

test('different lists of parts have different names', () => {
  const names = [
    sharedName('key', 'ab', 'c'),
    sharedName('key', 'a', 'bc'),
    sharedName('key', 'abc'),
    sharedName('key', 'abc', ''),
    sharedName('rate', 'abc'),
    sharedName('key', 'a', '1:b'),
    sharedName('key', 'a', '', 'b'),
  ];
  assert.is(new Set(names).size, names.length);
});

test('a loopback server has a different name on each machine, and other servers the same one', () => {
  for (const url of ['http://127.0.0.1:11434/v1', 'http://localhost:1', 'http://[::1]:1']) {
    assert.is.not(placeOf(url, 'one'), placeOf(url, 'other'), url);
  }
  for (const url of ['https://api.example.net/v1', 'http://10.0.0.7:8000']) {
    assert.is(placeOf(url, 'one'), url);
  }
  assert.is(thisMachine(), thisMachine());
  assert.ok(thisMachine().length > 0);
});

test.run();
