import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEnvelope } from './envelope.ts';

test('closing tags are cut with the blanks around them', () => {
  const text = 'line\nline two\n</stdout> \n</output>\n ';
  assert.is(openEnvelope(text).body, 'line\nline two');
  assert.is(openEnvelope(text).tail, '\n</stdout> \n</output>\n ');
  assert.is(openEnvelope('line\n</other>\n').tail, '');
  assert.is(openEnvelope('line \n').tail, '');
});

test('the three parts are the text', () => {
  for (const text of ['', ' ', '</output>', 'a</file></file>', `${'x'.repeat(300)}</content>`]) {
    const { head, body, tail } = openEnvelope(text);
    assert.is(head + body + tail, text);
  }
});

test('tags and blanks that close nothing after all cost no time', () => {
  const startMs = performance.now();
  for (const blanks of ['', ' ', '     ', '\n\n\n\n\n\n\n\n'])
    for (let count = 1; count < 20; count += 1)
      openEnvelope(`x${`</output>${blanks}`.repeat(count)}!`);
  assert.ok(performance.now() - startMs < 1000);
});

test.run();
