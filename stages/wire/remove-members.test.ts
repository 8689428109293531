/** Members are removed from an object without a trace, whatever their position. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { findSpans } from './json-path.ts';
import { removeMembers } from './remove-members.ts';
import { splice } from './splice.ts';

const without = (text: string, ...names: string[]): string => {
  const bytes = Buffer.from(text);
  const [root] = findSpans(bytes, [[]]);
  return splice(bytes, removeMembers(bytes, root!, new Set(names))).toString();
};

test('a member goes with one comma, and the others keep their bytes', () => {
  const text = '{ "a" : 1,"b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"", "d":null }';
  assert.is(without(text, 'a'), '{ "b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"", "d":null }');
  assert.is(without(text, 'b'), '{ "a" : 1,"c":"x,\\"a\\"", "d":null }');
  assert.is(without(text, 'd'), '{ "a" : 1,"b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"" }');
  assert.is(without(text, 'x'), text);
});

test('neighbours, all of them, one that occurs twice, and a name with an escape', () => {
  const names = ['a', 'b', 'c', 'd'];
  const text = '{"a":1,"b":2,"c":3,"d":4}';
  // For every subset, the rest must parse to the other members.
  for (let bits = 0; bits < 16; bits += 1) {
    const gone = names.filter((_name, at) => (bits & (1 << at)) !== 0);
    const left = JSON.parse(without(text, ...gone)) as Record<string, number>;
    assert.equal(
      Object.keys(left),
      names.filter((name) => !gone.includes(name)),
    );
  }
  assert.is(without('{"a":1,"b":2,"a":3}', 'a'), '{"b":2}');
  assert.is(without('{"\\u0061":1,"b":2}', 'a'), '{"b":2}');
  assert.is(without('{}', 'a'), '{}');
});

test.run();
