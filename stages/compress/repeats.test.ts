import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SentLines } from './repeats.ts';

const FILE = Array.from(
  { length: 60 },
  (_, n) => `  const value${n} = compute(${n}, 'some text ${n * 7}');`,
);
const numbered = (lines: readonly string[], first: number, separator = '\t'): string =>
  lines.map((line, at) => `${String(first + at).padStart(6)}${separator}${line}`).join('\n');

test('a later copy names the first, and the first gives it back', () => {
  const sent = new SentLines();
  sent.add('result 1 (cat a.ts)', FILE.join('\n'));
  const later = ['header that differs', ...FILE.slice(10, 40), 'a new line'].join('\n');
  const out = sent.replaceRepeats(later)!;
  assert.is(
    out.text,
    'header that differs\n[svc lines 11–40 of result 1 (cat a.ts) again]\na new line',
  );
  assert.is(sent.restore(out.text), later);
});

test('a near copy is what changed between references', () => {
  const sent = new SentLines();
  sent.add('result 1 (cat a.ts)', FILE.join('\n'));
  const changed = FILE.with(30, '  const value30 = other();').join('\n');
  const out = sent.replaceRepeats(changed)!;
  assert.is(out.text.split('\n').length, 3);
  assert.match(out.text, 'const value30 = other();');
  assert.is(sent.restore(out.text), changed);
});

test('copies are recognised through line numbers, and get theirs back', () => {
  for (const separator of ['\t', '→']) {
    const sent = new SentLines();
    sent.add('result 1 (read)', numbered(FILE, 1, separator));
    const again = numbered(FILE.slice(20, 50), 21, separator);
    const out = sent.replaceRepeats(again)!;
    assert.match(out.text, 'numbered from 21');
    assert.is(sent.restore(out.text), again);
    const plain = FILE.slice(5, 30).join('\n');
    assert.is(sent.restore(sent.replaceRepeats(plain)!.text), plain);
  }
});

test('odd numbering cannot be said in words, so the lines go out', () => {
  const sent = new SentLines();
  sent.add('result 1', FILE.join('\n'));
  const odd = FILE.map((line, at) => `${at + 1}: ${line}`).join('\n');
  assert.is(sent.replaceRepeats(odd), undefined);
});

test('a text also names its own lines above', () => {
  const sent = new SentLines();
  const trace = FILE.slice(0, 12).join('\n');
  const text = `first failure\n${trace}\nsecond failure\n${trace}\nend`;
  const out = sent.replaceRepeats(text)!;
  assert.match(out.text, 'of this text again]');
  assert.is(sent.restore(out.text), text);
});

test('markers of ours are never referred to, short runs are not worth it', () => {
  const sent = new SentLines();
  sent.add(
    'result 1',
    ['a', '[svc omitted 3 of 9 lines here (lines 1–3); the source is complete]', 'b'].join('\n'),
  );
  assert.is(sent.replaceRepeats('a\nb\nc\nd'), undefined);
  sent.add('result 2', 'x\ny\nz');
  assert.is(sent.replaceRepeats('x\ny\nz'), undefined);
});

test.run();
