/** The depth and size of a JSON text, measured without recursion. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_DEPTH } from './json-skip.ts';
import { measureJson } from './json-size.ts';

const sizeOf = (text: string): string => measureJson(Buffer.from(text)).size;

test('a million open brackets count as deep, of either kind', () => {
  const many = 1_000_000;
  for (const bracket of ['[', '{', '{"a":', '[{"a":['])
    assert.is(sizeOf(bracket.repeat(many)), 'deep');
  assert.is(sizeOf('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)), 'fine');
  assert.is(sizeOf('['.repeat(MAX_DEPTH + 1)), 'deep');
});

test('brackets in strings and surplus closing brackets do not count', () => {
  assert.is(sizeOf(JSON.stringify({ a: '['.repeat(10_000), b: '"[\\' })), 'fine');
  assert.is(sizeOf(']'.repeat(10_000)), 'fine');
});

test('many values, or many members of one object, count as large', () => {
  assert.is(sizeOf(`[${'1,'.repeat(60_001)}1]`), 'large');
  const members = Array.from({ length: 20_001 }, (_, n) => `"${n}":1`);
  assert.is(sizeOf(`{${members.join(',')}}`), 'large');
  assert.is(sizeOf(`{${members.slice(0, 19_000).join(',')}}`), 'fine');
});

test('counts the values of a text that is read in parts', () => {
  const { values } = measureJson(Buffer.from('[1,[2,3],{"a":"x,y"}]'));
  assert.is(values, 6);
  assert.is(measureJson(Buffer.from('[1,1]'), 59_000).size, 'fine');
  assert.is(measureJson(Buffer.from('[1,1]'), 60_000).size, 'large');
});

test.run();
