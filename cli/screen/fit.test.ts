import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createColors, forTerminal } from './colors.ts';
import { cutPath, fold, minWidth, widthOf, wrap } from './fit.ts';

test('the width is the number of terminal cells, without colour codes', () => {
  const { red } = createColors(true);
  assert.is(widthOf(red('abc')), 3);
  assert.is(widthOf('漢字 👍'), 7);
  assert.is(widthOf('⚡✅é–…'), 7);
  assert.is(widthOf('e\u0301'), 1);
});

test('lines are wrapped between words, aligned with their own column', () => {
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

test('cells wrap at spaces and at separators in names; paths are shortened in the middle', () => {
  assert.equal(fold('claude-opus-4-1-20250805', 12), ['claude-opus-', '4-1-20250805']);
  assert.equal(fold('not yet in effect', 10), ['not yet in', 'effect']);
  assert.equal(fold('/home/me/work/project/src/index.ts', 24), ['/home/me/…/src/index.ts']);
  assert.is(cutPath('~/a.ts', 24), '~/a.ts');
  assert.is(minWidth('not yet in effect'), 6);
});

test('a figure, a date and a time of day are never wrapped', () => {
  for (const whole of ['44,705,967', '$1,234.56', '−12,345', '11:09:03', '2026-11-22', '3.5%'])
    assert.is(minWidth(whole), whole.length, whole);
  assert.equal(fold('1,234,567 of 2,345,678', 12), ['1,234,567 of', '2,345,678']);
  assert.equal(fold('us.anthropic.claude-3.5:beta', 14), ['us.anthropic.', 'claude-3.5:', 'beta']);
});

test('a long word is broken only where allowed, and a figure nowhere', () => {
  assert.is(minWidth('extraordinarily'), 15);
  assert.is(minWidth('extraordinarily', 12), 12);
  assert.is(minWidth('1,234,567,890,123', 12), 17);
  assert.equal(fold('extraordinarily long', 12), ['extraordinar', 'ily long']);
  assert.equal(fold('模型名称', 4), ['模型', '名称']);
});

test('a colour ends with its line', () => {
  const { yellow } = createColors(true);
  const lines = fold(yellow('not yet in effect'), 10).map(forTerminal);
  assert.equal(lines, ['\u001b[33mnot yet in\u001b[39m', '\u001b[33meffect\u001b[39m']);
});

test.run();
