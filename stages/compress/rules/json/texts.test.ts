/** Texts in JSON: found, moved below it, and put back. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inlineTexts, readTexts } from '../../decode/decoders.ts';
import { createRandom } from '../../../../fixtures/random.ts';
import { hasMark } from '../../text/has-mark.ts';
import { textsInJson, writeTexts } from './texts.ts';

const LINES = Array.from(
  { length: 20 },
  (_, n) => `line ${n} says "so" to C:\\folder\\${n}\tand ends`,
);
const TEXT = LINES.join('\n');

/** Returns the document as sent if no rule shortens a text. */
function open(json: string): string | undefined {
  const found = textsInJson(json);
  return (
    found &&
    writeTexts(
      found.frame,
      found.texts.map(({ text }) => text),
    )
  );
}

test('moves a text below its document, with the members beside it as context', () => {
  const json = JSON.stringify([{ query: 'make', result: TEXT, success: true }]);
  assert.is(
    open(json),
    `[{"query":"make","result":"[svc text 1 below]","success":true}]\n[svc text 1]\n${TEXT}`,
  );
  assert.equal(textsInJson(json)?.texts[0]?.context, { query: 'make', result: TEXT });
});

test('restores the same document when the texts are put back', () => {
  const documents: unknown[] = [
    { stdout: TEXT, stderr: `${TEXT}\n\n`, exitCode: 0 },
    [TEXT],
    [{ a: { b: [TEXT, { c: `\n${TEXT}` }] }, ключ: 'é' }, 1.0, null, 'short\nbut\ntwo'],
    { result: `${TEXT}\r\n\u001b[31mred\u001b[0m\u0000\u2028 ${TEXT}` },
    { result: `[svctext 1]\n"[svc text 1 below]"${TEXT}` },
  ];
  for (const value of documents)
    for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2), asPython(value)]) {
      const opened = open(json);
      assert.ok(opened !== undefined, json.slice(0, 80));
      assert.ok(hasMark(opened), 'svc recognises its own text in the next turn');
      assert.equal(JSON.parse(inlineTexts(opened)!), value);
    }
});

test('keeps the spelling of unusual numbers and of repeated members', () => {
  const json = `{"n":1e400,"n":12345678901234567890, "t":${JSON.stringify(TEXT)}}`;
  assert.is(
    readTexts(open(json)!)?.frame,
    '{"n":1e400,"n":12345678901234567890,"t":"[svc text 1 below]"}',
  );
});

test('leaves other documents alone', () => {
  const half = { text: TEXT, others: Array.from({ length: 400 }, (_, n) => n) };
  const others: readonly (readonly [why: string, json: string])[] = [
    ['no JSON', `{"result":${JSON.stringify(TEXT)}`],
    ['a string', JSON.stringify(TEXT)],
    ['texts of one line', JSON.stringify({ a: 'x'.repeat(900), b: 'no\\nbreak' })],
    ['a short text', JSON.stringify({ a: 'one\ntwo\nthree' })],
    ['mostly something else', JSON.stringify(half)],
    ['many records', JSON.stringify(Array.from({ length: 21 }, (_, id) => ({ id, text: TEXT })))],
    ['a mark of ours', JSON.stringify({ a: `${TEXT}\n[svc text 2]\n${TEXT}` })],
    ['half a character', `{"a":${JSON.stringify(TEXT).replace('line 3', '\\ud800')}}`],
    ['a wrong escape', `{"a":${JSON.stringify(TEXT).replace('line 3', '\\x41')}}`],
  ];
  for (const [why, json] of others) assert.is(textsInJson(json), undefined, why);
});

test('restores any strings in any document', () => {
  const random = createRandom(7);
  const pieces = [
    '\n',
    '\n',
    '"',
    '\\',
    '\\n',
    '\t',
    '[svc ',
    ']',
    'é',
    '😀',
    '\u0007',
    'word ',
    '{"a":1}',
    '\r\n',
    '`',
  ];
  const pick = (): string => pieces[Math.floor(random() * pieces.length)]!;
  let opened = 0;
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: 150 + Math.floor(random() * 100) }, pick).join('');
    const value = { command: 'make', parts: [{ text }, { text: `${text}${pick()}` }] };
    const out = open(JSON.stringify(value));
    if (out === undefined) continue;
    opened += 1;
    assert.equal(JSON.parse(inlineTexts(out)!), value);
  }
  assert.ok(opened > 20, String(opened));
});

/** Returns JSON as Python writes it: spaces after separators, non-ASCII characters escaped. */
function asPython(value: unknown): string {
  const spaced = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  return spaced.replaceAll(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

test.run();
