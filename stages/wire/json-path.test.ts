import { jsonValue, assert as runProperty, infiniteStream, nat, property } from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import type { JsonPath } from '../model/block.ts';
import { insertMember, splice } from './splice.ts';
import type { SpliceEdit } from './splice.ts';
import { findItems, findSpans } from './json-path.ts';

function textAt(json: string, path: JsonPath): string | undefined {
  const bytes = Buffer.from(json);
  const [span] = findSpans(bytes, [path]);
  return span && bytes.toString('utf8', span.start, span.end);
}

test('values are found by member and item, with any white space around them', () => {
  const json = ' {\n"a" : [ 1 , {"b":\t"x"} , [ ] ],"c":null , "d":-1.5e3}\r\n';
  assert.is(textAt(json, ['a', 0]), '1');
  assert.is(textAt(json, ['a', 1, 'b']), '"x"');
  assert.is(textAt(json, ['a', 2]), '[ ]');
  assert.is(textAt(json, ['c']), 'null');
  assert.is(textAt(json, ['d']), '-1.5e3');
  assert.is(textAt(json, []), json.trim());
});

test('absent, mistyped and truncated values have no span', () => {
  assert.is(textAt('{"a":[1]}', ['a', 1]), undefined);
  assert.is(textAt('{"a":[1]}', ['a', 'length']), undefined);
  assert.is(textAt('{"0":1}', [0]), undefined);
  assert.is(textAt('{"a":"unfinished', ['a']), undefined);
  assert.is(
    textAt('{"a":{"b":1}', ['a']),
    '{"b":1}',
    'a finished member of a cut-off object counts',
  );
  assert.is(textAt('{"a":1', []), undefined);
  assert.is(textAt('', ['a']), undefined);
  assert.is(textAt('}{]', ['a']), undefined);
});

test('the last of duplicate members counts, with its whole value', () => {
  assert.is(textAt('{"a":1,"a":2}', ['a']), '2');
  assert.is(textAt('{"a":{"b":1},"a":{}}', ['a', 'b']), undefined);
  assert.is(textAt('{"a":{"b":1},"a":{"b":2,"b":3}}', ['a', 'b']), '3');
});

test('escaped member names are unescaped', () => {
  assert.is(textAt(String.raw`{"m\u006fdel":1}`, ['model']), '1');
  assert.is(textAt(String.raw`{"a\"b":{"\\":2}}`, ['a"b', '\\']), '2');
  assert.is(textAt('{"é":1,"model":2}', ['é']), '1');
});

test('quotes and backslashes in long strings do not end them', () => {
  for (const text of [
    '\\'.repeat(99),
    '"'.repeat(200),
    `${'x'.repeat(60)}\\"${'y'.repeat(60)}\\`,
  ]) {
    const json = JSON.stringify({ skipped: text, wanted: text, after: 1 });
    assert.is(textAt(json, ['wanted']), JSON.stringify(text));
    assert.is(textAt(json, ['after']), '1');
  }
});

function nested(levels: number): Buffer {
  return Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
}

test('129 levels are refused anywhere, and 128 are read', () => {
  assert.is(findSpans(nested(128), [[]])[0]?.end, 256);
  const cases: [Buffer, JsonPath][] = [
    [nested(129), []],
    [Buffer.from(`{"a":${nested(128).toString()}}`), ['b']],
    [nested(200_000), [0, 0, 0]],
  ];
  for (const [bytes, path] of cases) {
    assert.throws(
      () => findSpans(bytes, [path]),
      (error: unknown) => isSvcError(error) && error.kind === 'bad_request',
    );
  }
});

test('the items of a list are found, and none in other values', () => {
  const bytes = Buffer.from(' [ {"a":[1,2]} ,\n"x", 3 ]');
  const items = findItems(bytes).map((item) => bytes.toString('utf8', item.start, item.end));
  assert.equal(items, ['{"a":[1,2]}', '"x"', '3']);
  assert.equal(findItems(Buffer.from('{"a":1}')), []);
  assert.equal(findItems(Buffer.from('[]')), []);
});

/** Returns JSON text with whitespace and escapes that `JSON.stringify` would never write. */
function oddText(value: unknown, randomNumber: () => number): string {
  const space = (): string => ['', ' ', '\n\t', '\r\n  '][randomNumber() % 4]!;
  const pad = (text: string): string => `${space()}${text}${space()}`;
  if (typeof value === 'string') return pad(oddString(value, randomNumber));
  if (Array.isArray(value))
    return pad(`[${value.map((item) => oddText(item, randomNumber)).join(',')}]`);
  if (typeof value !== 'object' || value === null) return pad(JSON.stringify(value));
  const members = Object.entries(value).map(
    ([name, item]) => `${pad(oddString(name, randomNumber))}:${oddText(item, randomNumber)}`,
  );
  return pad(`{${space()}${members.join(',')}}`);
}

function oddString(text: string, randomNumber: () => number): string {
  const units = text.split('').map((unit) => {
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return randomNumber() % 5 === 0 ? escaped : JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

function pathsIn(value: unknown, path: JsonPath = []): JsonPath[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value)
    ? value.flatMap((item, i) => pathsIn(item, [...path, i]))
    : Object.entries(value).flatMap(([name, item]) => pathsIn(item, [...path, name]));
  return [path, ...inner];
}

function withValue(value: unknown, path: JsonPath, replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, i) => (i === step ? withValue(item, rest, replacement) : item));
  }
  return Object.fromEntries(
    Object.entries(value as object).map(([name, item]) => [
      name,
      name === step ? withValue(item, rest, replacement) : item,
    ]),
  );
}

test('an edit in place equals the same edit of the parsed value and changes no other byte', () => {
  const json = jsonValue({ maxDepth: 5 }).filter(
    (value) => !JSON.stringify(value).includes('__proto__'),
  );
  const holds = property(json, infiniteStream(nat(1000)), nat(), (value, random, pick) => {
    const randomNumber = (): number => random.next().value as number;
    const original = Buffer.from(oddText(value, randomNumber));
    const parsed: unknown = JSON.parse(original.toString());
    const paths = pathsIn(parsed);
    const spans = findSpans(original, paths);
    for (const [i, span] of spans.entries()) {
      assert.ok(span, `no span for ${JSON.stringify(paths[i])}`);
    }
    const chosen = pick % paths.length;
    const { start, end } = spans[chosen]!;
    const edited = splice(original, [{ start, end, bytes: Buffer.from('"new é"') }]);
    assert.equal(JSON.parse(edited.toString()), withValue(parsed, paths[chosen]!, 'new é'));
    assert.ok(edited.subarray(0, start).equals(original.subarray(0, start)));
    const tail = original.subarray(end);
    assert.ok(edited.subarray(edited.length - tail.length).equals(tail));
  });
  runProperty(holds, { numRuns: 400, seed: 7 });
});

function edit(start: number, end: number, text: string): SpliceEdit {
  return { start, end, bytes: Buffer.from(text) };
}

test('splice sorts, keeps the buffer without edits, and refuses overlaps', () => {
  const original = Buffer.from('0123456789');
  assert.is(splice(original, []), original);
  assert.is(splice(original, [edit(8, 9, 'B'), edit(0, 2, 'A')]).toString(), 'A234567B9');
  assert.is(
    splice(original, [edit(4, 4, 'x'), edit(4, 4, 'y'), edit(4, 5, 'z')]).toString(),
    '0123xyz56789',
  );
  assert.is(splice(original, [edit(0, 10, '')]).toString(), '');
  for (const edits of [[edit(0, 3, ''), edit(2, 4, '')], [edit(9, 11, '')], [edit(5, 4, '')]]) {
    assert.throws(() => splice(original, edits), /overlap or lie outside/);
  }
  assert.is(original.toString(), '0123456789');
});

function withMember(json: string, path: JsonPath): string {
  const bytes = Buffer.from(json);
  const span = findSpans(bytes, [path])[0]!;
  return splice(bytes, [insertMember(bytes, span, 'n"', '{"x":true}')]).toString();
}

test('a member is added at the end of an object, also of an empty one', () => {
  assert.is(withMember('{"a":1\n}', []), '{"a":1,"n\\"":{"x":true}\n}');
  assert.is(withMember('{"a":{ }}', ['a']), '{"a":{"n\\"":{"x":true} }}');
});

test.run();
