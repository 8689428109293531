import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { membersOf, nameOf } from './members.ts';
import { withoutMembers } from './without-members.ts';

const OBJECT = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
const INDENT = fc.constantFrom(undefined, 1, '\t');

test('members are where JSON.parse finds them', () => {
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

test('what is taken out is gone, and all else is as it was written', () => {
  fc.assert(
    fc.property(OBJECT, INDENT, (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      for (const name of Object.keys(value)) {
        const left = withoutMembers(Buffer.from(text), (each) => each === name).toString();
        const { [name]: _gone, ...rest } = JSON.parse(text) as Record<string, unknown>;
        assert.equal(JSON.parse(left), rest);
        assert.ok(left.length < text.length);
      }
      const bytes = Buffer.from(text);
      assert.is(
        withoutMembers(bytes, () => false),
        bytes,
      );
    }),
  );
});

test('depth costs no stack, and is bounded where that is asked for', () => {
  const deep = Buffer.from(`{"a":${'['.repeat(500)}${']'.repeat(500)},"b":1}`);
  assert.is(membersOf(deep)?.length, 2);
  assert.throws(() => withoutMembers(deep, () => false), /nests deeper than 128/);
});

test.run();
