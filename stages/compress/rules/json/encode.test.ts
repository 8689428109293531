import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as fc from 'fast-check';
import { decodeJson } from './decode.ts';
import { compressJson } from './encode.ts';
import { printCompact, readJson } from './lexer.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';

const CONTEXT = contextFor('json');
const apply = (text: string): string | undefined => compressJson(text, CONTEXT)?.text;
const original = (text: string): string => decodeJson(text) ?? text;
const compactOf = (text: string): string => printCompact(readJson(text)!);

test('keeps number spellings, escapes and key order; removes only white space', () => {
  const text = '{ "10": 1.0, "2": 1e400,\n "n": 12345678901234567890, "s": "\\u00e9\\/" }';
  assert.is(apply(text), '{"10":1.0,"2":1e400,"n":12345678901234567890,"s":"\\u00e9\\/"}');
  assert.is(apply('{"a":1}'), undefined);
});

test('encodes similar objects as a table that decodes to the same JSON', () => {
  const rows = Array.from({ length: 20 }, (_, id) => ({
    id,
    name: `user ${id}`,
    kind: 'User',
    url: `https://example.test/users/${id}`,
    owner: { login: `o${id % 3}`, id: `${id}` },
    ...(id % 4 === 0 ? {} : { note: id % 2 === 0 ? null : 'a, "quoted" note' }),
  }));
  const text = JSON.stringify({ total: 20, rows }, null, 2);
  const out = apply(text)!;
  assert.match(
    out,
    '@20(id,name^"user ",kind="User",url^"https://example.test/users/",owner(login,id),note)',
  );
  assert.is(decodeJson(out), compactOf(text));
  assert.ok(out.length < text.length * 0.4);
});

test('encodes maps of similar objects and JSON Lines as tables', () => {
  const map = Object.fromEntries(
    ['a', 'b c', 'd'].map((key, n) => [key, { size: n, kind: 'file', path: `src/${key}` }]),
  );
  const lines = Array.from({ length: 9 }, (_, n) =>
    JSON.stringify({ level: 'info', message: `m ${n}` }),
  ).join('\n');
  const big = JSON.stringify({
    ...map,
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`k${n}`, { size: n, kind: 'file', path: `src/${n}` }]),
    ),
  });
  assert.match(apply(big)!, '@33*(size,kind="file",path');
  assert.is(decodeJson(apply(big)!), compactOf(big));
  const encoded = apply(lines + '\n' + lines + '\n' + lines)!;
  assert.is(decodeJson(encoded), lines + '\n' + lines + '\n' + lines);
});

test('shares the keys of similar objects across a document', () => {
  const owner = (n: number): unknown => ({
    login: n % 2 === 0 ? 'ann (a)' : '#1(x)',
    node_id: `node${n}`,
    type: 'User',
    avatar_url: `https://example.test/a/${n}`,
  });
  const scattered = Array.from({ length: 12 }, (_, n) => [
    { by: owner(n), at: n },
    [owner(n + 20)],
    { x: [owner(n + 40)], y: '@2(a)' },
  ]);
  const text = JSON.stringify({ first: owner(1), scattered, last: { owner: owner(6) } });
  const out = apply(text)!;
  assert.match(out, '#1=(login,node_id,type="User",avatar_url^"https://example.test/a/")');
  assert.is(decodeJson(out), text);
});

test('leaves text alone that is not JSON, repeats keys or nests too deep', () => {
  for (const text of [
    '{"a":1,}',
    '[1 2]',
    '{"a"',
    '"\n"',
    '[01]',
    '['.repeat(400) + ']'.repeat(400),
  ]) {
    assert.is(readJson(text), undefined, text.slice(0, 10));
    assert.is(apply(text), undefined);
  }
  const twice = `[${Array.from({ length: 5 }, () => '{"a":1, "a":2}').join(', ')}]`;
  assert.is(apply(twice), compactOf(twice));
});

test('decodes any JSON to itself, even if its strings look like the encoding', () => {
  const key = fc.constantFrom('id', 'a b', 'x,y', 'u"v', '@3(', '');
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('1', 'true', '@2(a)', 'a,b', '', ' x', 'x ', '[svc '),
  );
  const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null));
  const row = fc.dictionary(
    key,
    fc.oneof(leaf, fc.dictionary(key, leaf), fc.array(leaf, { maxLength: 3 })),
  );
  const value = fc.oneof(
    fc.array(row, { maxLength: 12 }),
    fc.dictionary(fc.string(), row),
    fc.json().map((text) => JSON.parse(text) as unknown),
  );
  fc.assert(
    fc.property(value, (sample) => {
      const text = JSON.stringify(sample, null, 1);
      const out = apply(text);
      if (out !== undefined) assert.is(compactOf(original(out)), compactOf(text));
    }),
    { numRuns: 400, seed: 7 },
  );
});

test.run();
