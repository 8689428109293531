import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { membersOf, nameOf, withoutMembers } from './members.ts';

const OBJECT = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
const INDENT = fc.constantFrom(undefined, 1, '\t');

test('members are found where JSON.parse finds them', () => {
  fc.assert(
    fc.property(OBJECT, INDENT, (value, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, indent));
      const read = membersOf(bytes)?.map((member) => [
        nameOf(member),
        JSON.parse(bytes.toString('utf8', member.start, member.end)),
      ]);
      assert.equal(read, Object.entries(JSON.parse(bytes.toString()) as object));
      for (let cut = 0; cut < bytes.length; cut += 1)
        assert.is(membersOf(bytes.subarray(0, cut)), undefined);
    }),
  );
});

test('removed members are gone, and everything else is unchanged', () => {
  fc.assert(
    fc.property(OBJECT, INDENT, (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      for (const name of Object.keys(value)) {
        const remaining = withoutMembers(Buffer.from(text), (each) => each === name).toString();
        const { [name]: _gone, ...rest } = JSON.parse(text) as Record<string, unknown>;
        assert.equal(JSON.parse(remaining), rest);
        assert.ok(remaining.length < text.length);
      }
      const bytes = Buffer.from(text);
      assert.is(
        withoutMembers(bytes, () => false),
        bytes,
      );
    }),
  );
});

test('depth costs no stack, and is limited if requested', () => {
  const deep = Buffer.from(`{"a":${'['.repeat(500)}${']'.repeat(500)},"b":1}`);
  assert.is(membersOf(deep)?.length, 2);
  assert.throws(() => withoutMembers(deep, () => false), /nests deeper than 128/);
});

const without = (text: string, ...names: string[]): string => {
  const bytes = Buffer.from(text);
  return withoutMembers(bytes, (name) => names.includes(name)).toString();
};

test('a member is removed with one comma, and the others keep their bytes', () => {
  const text = '{ "a" : 1,"b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"", "d":null }';
  assert.is(without(text, 'a'), '{ "b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"", "d":null }');
  assert.is(without(text, 'b'), '{ "a" : 1,"c":"x,\\"a\\"", "d":null }');
  assert.is(without(text, 'd'), '{ "a" : 1,"b":{"a":[1,{"c":2}]} , "c":"x,\\"a\\"" }');
  assert.is(without(text, 'x'), text);
});

test('adjacent, all, duplicate and escaped members are removed', () => {
  const names = ['a', 'b', 'c', 'd'];
  const text = '{"a":1,"b":2,"c":3,"d":4}';
  // For every subset, the rest must parse to the other members.
  for (let bits = 0; bits < 16; bits += 1) {
    const removed = names.filter((_name, at) => (bits & (1 << at)) !== 0);
    const remaining = JSON.parse(without(text, ...removed)) as Record<string, number>;
    assert.equal(
      Object.keys(remaining),
      names.filter((name) => !removed.includes(name)),
    );
  }
  assert.is(without('{"a":1,"b":2,"a":3}', 'a'), '{"b":2}');
  assert.is(without('{"\\u0061":1,"b":2}', 'a'), '{"b":2}');
  assert.is(without('{}', 'a'), '{}');
});

test.run();
