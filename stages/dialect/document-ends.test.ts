/** Reading both members at the ends of a document gives the same as reading all of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadWireResponses } from '../../fixtures/wire.ts';
import { createEndReader } from './document-ends.ts';
import { isObject, parseJson } from './json-kind.ts';

const read = createEndReader({ first: 'model', last: 'usage' });

function readText(text: string): unknown {
  return read(Buffer.from(text));
}

/** Returns both members by parsing the whole document. */
function parsedMembers(bytes: Buffer): unknown {
  const value = parseJson(bytes.toString('utf8'));
  return isObject(value) ? { model: value['model'], usage: value['usage'] } : undefined;
}

const DOCUMENTS = loadWireResponses().filter((one) => !one.streaming && one.status === 200);

test('reading the ends gives the same as a full parse for every recorded document', () => {
  let readCount = 0;
  for (const { file, bytes, dialect } of DOCUMENTS) {
    const ends = read(bytes);
    if (ends === undefined) continue;
    assert.equal(ends, parsedMembers(bytes), file);
    if (['messages', 'chat', 'responses'].includes(dialect)) readCount += 1;
  }
  assert.ok(readCount >= 6, `${readCount} documents were read at their ends`);
});

test('a third member is read near the ends, and nothing is read if it is elsewhere', () => {
  const near = createEndReader({ first: 'model', last: 'usage', near: 'tier' });
  const text = (before: string, between: string, after: string): Buffer =>
    Buffer.from(
      `{"id":1,${before}"model":"m","output":[{"a":"}{"}],${between}"usage":{"n":1}${after}}`,
    );
  const tiered = { model: 'm', usage: { n: 1 }, tier: 'flex' };
  const tier = '"tier":"flex",';
  assert.equal(near(text('', '', '')), { model: 'm', usage: { n: 1 } });
  assert.equal(near(text(tier, '', '')), tiered);
  assert.equal(near(text('', `${tier}"tools":[{}],`, '')), tiered);
  assert.equal(near(text('', '', ',"tier":"flex"')), tiered);
  assert.is(near(text('', '"tools":[{"tier":"flex"}],', '')), undefined, 'inside another');
  const far = `"tools":["${'x'.repeat(3000)}"],`;
  assert.is(near(text('', `${tier}${far}`, '')), undefined, 'far from both');
});

test('nothing is read from a document that is cut short at any byte', () => {
  for (const { file, bytes } of DOCUMENTS) {
    const end = bytes.toString('latin1').trimEnd().length;
    for (let size = 0; size < end; size += 1)
      assert.is(read(bytes.subarray(0, size)), undefined, `${file} cut at ${size}`);
  }
});

const USAGE = '"usage":{"input_tokens":3}';

test('only members of the object itself count', () => {
  assert.equal(readText(`{"model":"m","content":[],${USAGE}}`), {
    model: 'm',
    usage: { input_tokens: 3 },
  });
  assert.equal(readText(`{ "id" : "é", "model" : "m", "content": "x", ${USAGE}, "more": [1] }\n`), {
    model: 'm',
    usage: { input_tokens: 3 },
  });
  const others = {
    'inside another member at the end': `{"model":"m","x":{${USAGE}}}`,
    'inside another member at the beginning': `{"x":{"model":"m"},${USAGE}}`,
    'inside a list': `[{"model":"m",${USAGE}}]`,
    'a later one elsewhere': `{"model":"m",${USAGE},"x":{"usage":{"input_tokens":9}}}`,
    'quoted in a text at the end': `{"model":"m","text":"\\"usage\\":{}"}`,
    'quoted in a text at the beginning': `{"text":"\\"model\\":\\"n\\"",${USAGE}}`,
    'the value of another member': `{"role":"model","model":"m",${USAGE}}`,
    'a name that has to be unescaped': `{"model":"m\\u0041",${USAGE}}`,
    'no name of a model': `{"model":null,${USAGE}}`,
    'no figures': '{"model":"m","usage":null}',
    'nothing at all': '',
    'only the end': `${USAGE}}`,
  };
  for (const [name, text] of Object.entries(others)) assert.is(readText(text), undefined, name);
});

test('the later of two members with one name counts', () => {
  const twice = `{"model":"cheap","content":[],${USAGE},"model":"dear"}`;
  assert.equal(readText(twice), { model: 'dear', usage: { input_tokens: 3 } });
});

test('members far from the ends are left to a full parse', () => {
  const long = 'x'.repeat(3000);
  assert.is(readText(`{"text":"${long}","model":"m",${USAGE}}`), undefined);
  assert.is(readText(`{"model":"m",${USAGE},"text":"${long}"}`), undefined);
  assert.ok(readText(`{"model":"m","text":"${long}",${USAGE}}`));
});

test.run();
