import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packStack, unpackStack } from './pack-stack.ts';
import { contextFor } from '../../../../fixtures/compress/texts.ts';

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

test('packs stack frames so that they can be restored', () => {
  const out = packStack(TRACE, CONTEXT)!;
  assert.match(out.text, '~/ is /srv/shop/app/]');
  assert.match(out.text, '  ~/part3.py:13 step3');
  assert.match(out.text, '  /usr/lib/python3.12/json/decoder.py:355 raw_decode');
  assert.is(unpackStack(out.text), TRACE);
  assert.equal(out.removed, []);
});

test('distinguishes packed lines from lines that merely look packed', () => {
  const text = `a.py:12 is wrong\n| table\n~/b.py:3 too\n${TRACE}`;
  assert.is(unpackStack(packStack(text, CONTEXT)!.text), text);
  const home = TRACE.replaceAll('/srv/shop/app/part1.py', '~/part1.py');
  const packed = packStack(home, CONTEXT);
  if (packed !== undefined) assert.is(unpackStack(packed.text), home);
});

test('leaves a few frames alone', () => {
  const few = TRACE.split('\n').slice(0, 7).join('\n');
  assert.is(packStack(few, CONTEXT), undefined);
});

test.run();
