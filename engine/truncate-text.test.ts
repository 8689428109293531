import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cutText, truncateNote, truncateText } from './truncate-text.ts';

const LONG = 'ab'.repeat(1000);

test('a text up to the limit is kept whole, and a longer one is cut and marked', () => {
  assert.is(truncateText(LONG.slice(0, 256)), LONG.slice(0, 256));
  assert.is(truncateText(LONG), `${LONG.slice(0, 255)}…`);
  assert.is(cutText(LONG, 3), 'aba');
  assert.is(cutText('abc', 3), 'abc');
  assert.is(cutText('a😀', 2), 'a�', 'half a character is replaced');
});

test('every text in a note is cut, at any depth, and nothing else changes', () => {
  const kept = `${LONG.slice(0, 255)}…`;
  const note = { deep: [{ [LONG]: LONG }, 7, null, true, ['x']], short: 'y' };
  assert.equal(truncateNote(note), { deep: [{ [kept]: kept }, 7, null, true, ['x']], short: 'y' });
  assert.is(truncateNote(LONG), kept);
});

test.run();
