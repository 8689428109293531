import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { visible, visibleJson } from './visible.ts';

const HOSTILE = '\u001b[31mred\u001b]0;title\u0007\r\nnext\u009b2J\u007f\u202eabc';

test('escapes control characters and nothing else', () => {
  assert.is(
    visible(HOSTILE),
    String.raw`\x1b[31mred\x1b]0;title\x07\x0d\x0anext\x9b2J\x7f\u202eabc`,
  );
  assert.is(visible('a\tb – naïve 漢字 👍'), 'a\tb – naïve 漢字 👍');
  assert.is(visible(visible(HOSTILE)), visible(HOSTILE));
});

test('escaping JSON keeps its value', () => {
  const json = visibleJson(JSON.stringify({ model: HOSTILE }, undefined, 2));
  assert.equal(JSON.parse(json), { model: HOSTILE });
  assert.not.match(json.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
});

test.run();
