import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dropSourceLines } from './source-lines.ts';
import { packStack, unpackStack } from './pack-stack.ts';
import { contextFor } from '../../../fixtures/compress/texts.ts';

const CONTEXT = contextFor('trace');

const frame = (path: string, line: number, name: string): string =>
  `  File "${path}", line ${line}, in ${name}\n    return inner_${line}(request)`;
const TRACE = [
  'Traceback (most recent call last):',
  ...Array.from({ length: 8 }, (_, at) =>
    frame(`/srv/shop/app/part${at}.py`, 10 + at, `step${at}`),
  ),
  frame('/usr/lib/python3.12/json/decoder.py', 355, 'raw_decode'),
  'ValueError: bad: 12 apples',
].join('\n');

test('frames are packed and come back', () => {
  const out = packStack(TRACE, CONTEXT)!;
  assert.match(out.text, '~/ is /srv/shop/app/]');
  assert.match(out.text, '  ~/part3.py:13 step3');
  assert.match(out.text, '  /usr/lib/python3.12/json/decoder.py:355 raw_decode');
  assert.is(unpackStack(out.text), TRACE);
  assert.equal(out.removed, []);
});

test('lines that look packed already are told apart', () => {
  const text = `a.py:12 is wrong\n| table\n~/b.py:3 too\n${TRACE}`;
  assert.is(unpackStack(packStack(text, CONTEXT)!.text), text);
  const home = TRACE.replaceAll('/srv/shop/app/part1.py', '~/part1.py');
  const packed = packStack(home, CONTEXT);
  if (packed !== undefined) assert.is(unpackStack(packed.text), home);
});

test('a few frames are left alone', () => {
  const few = TRACE.split('\n').slice(0, 7).join('\n');
  assert.is(packStack(few, CONTEXT), undefined);
  assert.is(dropSourceLines(few, CONTEXT), undefined);
});

test('inner frames lose their source lines, the outermost and the innermost two do not', () => {
  const out = dropSourceLines(TRACE, CONTEXT)!;
  const lines = out.text.split('\n');
  assert.match(lines[0]!, 'source lines are left out below inner frames');
  const source = lines.filter((line) => line.includes('inner_'));
  assert.equal(
    source.map((line) => Number(/inner_(\d+)/.exec(line)![1])),
    [10, 17, 355],
  );
  assert.is(lines.filter((line) => line.includes('File "')).length, 9);
  assert.is(lines.at(-1), 'ValueError: bad: 12 apples');
  const removed = out.removed.reduce((sum, range) => sum + range.to - range.from, 0);
  assert.is(removed, TRACE.split('\n').length - (lines.length - 1));
});

test('below a frame only source and carets are left out', () => {
  const more = (line: string): string =>
    TRACE.replaceAll(/^( +return inner_\d+.*)$/gm, (source) => `${source}\n${line}`);
  const values = dropSourceLines(more('    user = 12 apples'), CONTEXT);
  const kept = (values?.text ?? more('    user = 12 apples')).split('\n');
  assert.is(kept.filter((line) => line.includes('user = 12')).length, 9);
  const carets = dropSourceLines(more('           ~~~~~^^^^'), CONTEXT)!.text;
  assert.is(carets.split('\n').filter((line) => line.includes('^^^^')).length, 3);
});

test.run();
