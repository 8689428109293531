import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cutText, keptNote, keptText } from './kept-text.ts';

const LONG = 'ab'.repeat(1000);

test('a text is kept whole up to the limit, and cut with a mark beyond', () => {
  assert.is(keptText(LONG.slice(0, 256)), LONG.slice(0, 256));
  assert.is(keptText(LONG), `${LONG.slice(0, 255)}…`);
  assert.is(cutText(LONG, 3), 'aba');
  assert.is(cutText('abc', 3), 'abc');
  assert.is(cutText('a😀', 2), 'a�', 'half a character is none');
});

test('in a note every text is cut, however deep, and nothing else changes', () => {
  const kept = `${LONG.slice(0, 255)}…`;
  const note = { deep: [{ [LONG]: LONG }, 7, null, true, ['x']], short: 'y' };
  assert.equal(keptNote(note), { deep: [{ [kept]: kept }, 7, null, true, ['x']], short: 'y' });
  assert.is(keptNote(LONG), kept);
});

test.run();
