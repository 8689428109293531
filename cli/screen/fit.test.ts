import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createColors, forTerminal } from './colors.ts';
import { cutPath, fold, leastWidth, widthOf, wrap } from './fit.ts';

test('the width is what a terminal takes, without colours', () => {
  const { red } = createColors(true);
  assert.is(widthOf(red('abc')), 3);
  assert.is(widthOf('漢字 👍'), 7);
  assert.is(widthOf('e\u0301'), 1);
});

test('lines are folded between words, below their own column', () => {
  assert.equal(wrap('  name   one two three four', 20), [
    '  name   one two',
    '         three four',
  ]);
  assert.equal(wrap('  one two three', 11), ['  one two', '  three']);
  assert.equal(wrap('see http://127.0.0.1:8766/dashboard', 20), [
    'see',
    'http://127.0.0.1:8766/dashboard',
  ]);
});

test('cells are folded at spaces and at the signs of a name; paths lose their middle', () => {
  assert.equal(fold('claude-opus-4-1-20250805', 12), ['claude-opus-', '4-1-20250805']);
  assert.equal(fold('not yet in effect', 10), ['not yet in', 'effect']);
  assert.equal(fold('/home/me/work/project/src/index.ts', 24), ['/home/me/…/src/index.ts']);
  assert.is(cutPath('~/a.ts', 24), '~/a.ts');
  assert.is(leastWidth('not yet in effect'), 6);
});

test('a colour ends with its line', () => {
  const { yellow } = createColors(true);
  const lines = fold(yellow('not yet in effect'), 10).map(forTerminal);
  assert.equal(lines, ['\u001b[33mnot yet in\u001b[39m', '\u001b[33meffect\u001b[39m']);
});

test.run();
